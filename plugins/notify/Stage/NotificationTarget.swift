import Configuration
import Foundation
import HTTP

/// Where notifications go: a program, or a webhook.
package enum NotificationTarget: Sendable, Equatable {
    /// A program's path and its arguments.
    case command([String])
    case webhook(Webhook, tokenFile: String?)

    /// - Parameters:
    ///   - file: the configuration file, named in errors.
    /// - Throws: `ConfigurationError` unless exactly one of the two is given and can be used.
    package init(command: [String], url: String?, tokenFile: String?, file: String, instance: String) throws {
        let key = "instances.\(instance).configuration"
        switch (command.first, url) {
        case (let program?, nil):
            guard program.hasPrefix("/"), FileManager.default.isExecutableFile(atPath: program) else {
                throw ConfigurationError(
                    file: file, key: "\(key).command",
                    reason: "must begin with the full path of a program that can be run, not '\(program)'")
            }
            self = .command(command)
        case (nil, let url?):
            do { self = .webhook(try Webhook(url), tokenFile: tokenFile) } catch {
                throw ConfigurationError(file: file, key: "\(key).url", reason: "\(error)")
            }
        default:
            throw ConfigurationError(file: file, key: key, reason: "needs either 'command' or 'url'")
        }
    }
}
