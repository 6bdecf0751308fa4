import Configuration
import Foundation
import HealthModel
import MQTT
import StageKit

/// Where the broker is, and how to log in.
package struct BrokerLogin: Sendable, Equatable {
    package let address: MQTTAddress
    private let user: String?
    private let passwordFile: String?
    private let authorityFile: String?

    /// - Throws: `ConfigurationError` for options that make no sense.
    package init(
        _ instance: StackConfiguration.Instance, in stack: StackConfiguration
    ) throws(ConfigurationError) {
        let options = instance.configuration
        func mistake(_ option: String, _ reason: String) -> ConfigurationError {
            ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.\(option)", reason: reason)
        }
        do throws(MQTTError) {
            address = try MQTTAddress(options["broker"].string ?? "mqtt://127.0.0.1:1883")
        } catch {
            throw mistake("broker", error.description)
        }
        guard address.usesTLS || address.isLocal || options["plainMQTT"].bool == true else {
            throw mistake(
                "broker",
                "would send figures unencrypted to another machine: use mqtts://, or set 'plainMQTT' to true on a "
                    + "network that you trust")
        }
        user = options["user"].string
        passwordFile = options["passwordFile"].string
        authorityFile = options["caFile"].string
        if passwordFile != nil, user == nil { throw mistake("passwordFile", "needs 'user' as well") }
        if authorityFile != nil, !address.usesTLS { throw mistake("caFile", "needs a broker with mqtts://") }
    }

    /// For one connection. The password is read again each time, since it may have been changed.
    /// - Throws: `MQTTError.address` when the file can't be read: a person must resolve it.
    func options(_ request: KeepConnected) throws(MQTTError) -> MQTTConnection.Options {
        var password: String?
        if let passwordFile {
            guard let text = TextFile.text(passwordFile) else {
                throw .address("the file with the password can't be read: \(passwordFile)")
            }
            password = text
        }
        return MQTTConnection.Options(
            address: address, client: request.client, user: user, password: password, authorityFile: authorityFile,
            will: (topic: request.topics.status, payload: "offline"))
    }
}
