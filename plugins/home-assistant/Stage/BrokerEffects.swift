import MQTT

/// Connects to the broker and stays connected, until the process ends. Its results are `BrokerNews`.
package struct KeepConnected: Sendable {
    package var topics: MQTTTopics
    /// The name under which the broker knows this connection: it is the same after every restart, and differs from
    /// every other stack's.
    package var client: String

    /// - Parameter owner: the stack's mark.
    package init(topics: MQTTTopics, owner: String) {
        self.topics = topics
        client = "\(topics.base)-\(owner)"
    }
}

package enum BrokerNews: Sendable, Equatable {
    case connected
    /// Everything that the broker had retained on our topics when we connected has been heard.
    case looked
    /// There is no connection; another attempt is made after this many seconds.
    case lost(MQTTError, retryAfter: Double)
    /// Messages on our topics: what was retained before we connected, and what anybody publishes, ourselves included.
    case heard([Heard])
    /// Home Assistant has started.
    case born
}

/// A message on one of our topics.
package struct Heard: Sendable, Equatable {
    package var topic: String
    package var payload: String
    /// Whether the message was retained before we connected; false for one that has just been published.
    package var isRetained: Bool

    package init(topic: String, payload: String, isRetained: Bool) {
        (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
    }
}

/// Publishes retained messages at QoS 1. The result is `Published`, once the broker has acknowledged all; there is none
/// if the connection ends before that.
package struct Publish: Sendable, Equatable {
    /// Far fewer than the 65,535 ids that MQTT has for messages in flight.
    package static let most = 1_000

    package var posts: [BrokerBoard.Post]

    package init(posts: [BrokerBoard.Post]) { self.posts = posts }
}

package struct Published: Sendable, Equatable {
    package init() {}
}
