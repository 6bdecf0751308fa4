import CPosix
import Foundation

/// Where a broker listens: `mqtt://host:port`, or `mqtts://host:port` for TLS. Never contains a password.
package struct MQTTAddress: Sendable, Equatable, CustomStringConvertible {
    package let host: String
    package let port: Int
    package let usesTLS: Bool

    /// - Throws: `MQTTError.address`, with what is wrong with the text.
    package init(_ text: String) throws(MQTTError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["mqtt", "mqtts"].contains(scheme)
        else { throw .address("must be like mqtt://192.168.1.5:1883, or mqtts://… for TLS") }
        guard parts.user == nil, parts.password == nil else {
            throw .address("must not contain a name or password: use 'user' and 'passwordFile'")
        }
        guard let host = parts.host, !host.isEmpty else { throw .address("names no host") }
        guard parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil else {
            throw .address("must end after the port: topics have options of their own")
        }
        usesTLS = scheme == "mqtts"
        port = parts.port ?? (usesTLS ? 8883 : 1883)
        guard (1...65535).contains(port) else { throw .address("has a port that isn't 1 to 65535") }
        // Without the brackets that a URL puts around an IPv6 address.
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }

    /// Whether everything sent to this address stays on this machine.
    package var isLocal: Bool { healthbus_is_loopback(host) != 0 }

    /// As in errors: "192.168.1.5:1883".
    package var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
