import Client
import Configuration
import Foundation
import HealthModel
import Logging
import Protocol
import Terminal

/// The trial of a process that doesn't stand by for a swap, while another one may hold the lock.
struct Trial {
    private let id: String
    private let context: PluginContext

    init(id: String = UUID().uuidString, _ context: PluginContext) { (self.id, self.context) = (id, context) }

    /// Prints the report as JSON, for the process that started this one.
    func print(_ check: (StackClient) throws -> TrialReport?) throws {
        let report = try run(check)
        try TrialFile(folder: context.folder).write(report.changes, swap: id)
        StandardStream.output.write(Value(report).json() + "\n")
    }

    /// - Throws: `Failure` for a plugin that shouldn't take over.
    func require(_ check: (StackClient) throws -> TrialReport?) throws {
        let plugin = context.instance.plugin
        let report: TrialReport
        do { report = try run(check) } catch {
            let failure = Failure(of: error)
            throw Failure(
                "'\(plugin)' couldn't be tried out: \(failure.message)",
                hint: failure.hint ?? "--force takes the place without a trial")
        }
        guard let refusal = report.refusal(of: plugin) else { return }
        throw Failure("\(refusal.message); '\(context.name)' stays as it was", hint: refusal.hint)
    }

    private func run(_ check: (StackClient) throws -> TrialReport?) throws -> TrialReport {
        let client = try StackClient(address: context.address)
        defer { client.close() }
        return try check(client) ?? TrialReport()
    }
}
