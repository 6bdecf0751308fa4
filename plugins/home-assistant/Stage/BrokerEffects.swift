import MQTT

/// Connects to the broker and stays connected, until the process ends. Its results are `BrokerNews`.
package struct KeepConnected: Sendable {
    package var topics: MQTTTopics
}

package enum BrokerNews: Sendable, Equatable {
    case connected
    /// There is no connection; it is tried again after this many seconds.
    case lost(MQTTError, retryAfter: Double)
    /// Topics of ours that have something retained.
    case found([String])
    /// What our availability topic says now.
    case status(String)
    /// Home Assistant has started.
    case born
}

/// Publishes retained messages at QoS 1. The result is `Published`, once the broker has acknowledged all; none if the
/// connection ends before.
package struct Publish: Sendable, Equatable {
    package var posts: [BrokerBoard.Post]

    package init(posts: [BrokerBoard.Post]) { self.posts = posts }
}

package struct Published: Sendable, Equatable {
    package init() {}
}
