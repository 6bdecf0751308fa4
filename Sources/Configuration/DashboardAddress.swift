import Foundation
import HealthModel

/// Where the stack serves its page, according to its configuration and the environment.
package enum DashboardAddress {
    /// Why a dashboard wouldn't start with these options, and what to do; nil if it would.
    package static func problem(_ options: Value, at endpoint: Endpoint) -> (what: String, remedy: String)? {
        guard !endpoint.isLoopback, options["plainHTTP"].bool != true else { return nil }
        return (
            "would listen at \(endpoint.host), where anyone on the network can read the data",
            "set 'plainHTTP' if a proxy that speaks TLS or a container's network is in between"
        )
    }

    /// Whether anyone who reaches a dashboard with these options may read.
    package static func isOpen(_ options: Value) -> Bool { options["open"].bool == true }

    /// The address at which a browser on this machine reaches it.
    /// - Parameter port: the port that it actually listens on.
    package static func url(_ endpoint: Endpoint, port: Int) -> String {
        Endpoint(host: endpoint.host, port: port).url(isTLS: false)
    }

    /// The link that signs a browser in.
    /// - Parameters:
    ///   - url: the dashboard's address.
    ///   - ticket: the text of one of `SignInTickets`.
    package static func link(_ url: String, ticket: String) -> String { "\(url)/?ticket=\(ticket)" }
}
