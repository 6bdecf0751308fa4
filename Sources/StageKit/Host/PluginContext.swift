import Configuration
import HealthModel
import MessageBus
import Protocol

/// What a plugin's program has once it has been started correctly: its name, its options, its folder.
package struct PluginContext: Sendable {
    package let state: StateFolder
    package let stack: StackConfiguration
    package let instance: StackConfiguration.Instance
    package let log: StageLog
    /// The request to carry out instead of running the stage; only set for a stage that isn't running.
    let request: RepairRequest?

    package var name: String { instance.name }
    package var configuration: Value { instance.configuration }
    package var folder: String { scratch ?? state.instance(name) }
    package var databasePath: String { scratch.map { $0 + "/state.sqlite" } ?? state.database(name) }
    /// Where a program that is only being checked puts the files that would otherwise go into its folder.
    var scratch: String?
    /// The bus, with this instance's keys if it is sealed.
    package let address: BusAddress
}
