/// What went wrong with a broker. Contains neither passwords nor payloads.
package enum MQTTError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address can't be read.
    case address(String)
    /// There is no connection, or it broke.
    case connection(String)
    /// The broker doesn't accept this client: MQTT's code, from 1 to 5, and what it means.
    case refused(Int32, String)
    /// A file of certificates can't be used, or the broker's certificate isn't trusted.
    case tls(String)
    /// Another publisher of the same kind uses the topics with this prefix.
    case shared(String)

    package var description: String {
        switch self {
        case .address(let why), .connection(let why), .tls(let why): why
        case .refused(_, let why): "the broker refuses the connection: \(why)"
        case .shared(let topic):
            "another stack publishes under '\(topic)' at this broker: stop one of them, or give it another 'topic'"
        }
    }

    /// Whether waiting alone won't help.
    package var needsPerson: Bool {
        switch self {
        case .address, .tls, .shared: true
        // 3: the broker is unavailable.
        case .refused(let code, _): code != 3
        case .connection: false
        }
    }
}
