import CPosix
import Foundation
import HealthModel

/// Where the stack accepts data from phones, according to its configuration and the environment.
package enum IngestAddress {
    package static let usualPort = ServerPort.ingest.usualPort

    /// - Parameter ingest: nil for the default settings.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package static func endpoint(
        of ingest: StackConfiguration.Instance?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Endpoint { try ServerPort.ingest.endpoint(of: ingest, environment: environment) }
}

extension IngestAddress {
    /// A problem with an ingest's listening options: the option, what is wrong with it, and what to do. Pure: files
    /// aren't checked.
    package struct Problem: Error, Equatable {
        /// An option in the instance's configuration.
        package let option: String
        package let what: String
        package let remedy: String
    }

    /// Why an ingest wouldn't start with these options; nil if it would.
    package static func problem(_ options: [String: Value], at endpoint: Endpoint) -> Problem? {
        let (certificate, key) = (options["certificateFile"]?.string, options["keyFile"]?.string)
        if (certificate == nil) != (key == nil) {
            let missing = certificate == nil ? "certificateFile" : "keyFile"
            return Problem(
                option: missing, what: "has one of 'certificateFile' and 'keyFile' without the other",
                remedy: "set '\(missing)' too, or leave both out")
        }
        guard certificate == nil, !endpoint.isLoopback, options["plainHTTP"]?.bool != true else { return nil }
        return Problem(
            option: "host",
            what: "would listen at \(endpoint.host) without TLS, where anyone on the network can read the tokens",
            remedy: "set 'certificateFile' and 'keyFile', or 'plainHTTP' if a proxy or a container's network "
                + "is in between")
    }
}

extension Endpoint {
    /// The address at which a program on this machine reaches a server that listens here.
    package func url(isTLS: Bool) -> String {
        let endpoint = Endpoint(host: isEverywhere ? Self.loopback : host, port: port)
        return (isTLS ? "https://" : "http://") + endpoint.description
    }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { healthbus_is_loopback(host) != 0 }

    /// Whether the endpoint listens on all of the machine's addresses, which isn't an address to connect to.
    package var isEverywhere: Bool { host == "0.0.0.0" || host == "::" }
}
