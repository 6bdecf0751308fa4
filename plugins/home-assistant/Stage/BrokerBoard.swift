/// What the broker should have retained, and what it has acknowledged. Pure.
package struct BrokerBoard: Sendable, Equatable {
    /// A retained message; an empty payload removes the topic's message.
    package struct Post: Sendable, Equatable {
        package var topic: String
        package var payload: String

        package init(topic: String, payload: String) { (self.topic, self.payload) = (topic, payload) }
    }

    private let topics: MQTTTopics
    private var wanted: [String: String] = [:]
    /// Acknowledged in this connection, since a broker that comes back may have forgotten everything.
    private var accepted: [String: String] = [:]
    /// On its way.
    private var sent: [String: String] = [:]
    /// Our topics that hold something unwanted.
    private var strangers: Set<String> = []
    /// Topics where the broker may not have what is wanted: no others need checking.
    private var dirty: Set<String> = []

    /// More than any stack leaves behind; anything beyond that is found at the next connection.
    private static let mostStrangers = 20_000

    package init(_ topics: MQTTTopics) { self.topics = topics }

    /// - Parameter payload: nil for a topic that should be empty.
    package mutating func want(_ topic: String, _ payload: String?) {
        guard wanted[topic] != payload else { return }
        wanted[topic] = payload
        dirty.insert(topic)
    }

    /// Notes that it isn't known what the broker has, so that everything is sent again.
    package mutating func forget() {
        for topic in accepted.keys where wanted[topic] == nil { strangers.insert(topic) }
        for topic in sent.keys where wanted[topic] == nil { strangers.insert(topic) }
        (accepted, sent) = ([:], [:])
        dirty = strangers.union(wanted.keys)
    }

    /// Notes that the broker may no longer have what was sent for a topic, whether or not that was acknowledged.
    package mutating func doubt(_ topic: String) {
        accepted[topic] = nil
        sent[topic] = nil
        dirty.insert(topic)
    }

    /// Whether a topic's message, just published by anybody, differs from what the broker should have.
    package func isOverwritten(_ topic: String, _ payload: String) -> Bool {
        guard let wanted = wanted[topic], accepted[topic] == wanted || sent[topic] != nil else { return false }
        return payload != accepted[topic] && payload != sent[topic]
    }

    /// Notes that the broker holds a message of a stack on this topic.
    package mutating func found(_ topic: String) {
        guard wanted[topic] == nil, strangers.count < Self.mostStrangers else { return }
        strangers.insert(topic)
        dirty.insert(topic)
    }

    /// Notes that somebody else has emptied a topic.
    package mutating func emptied(_ topic: String) {
        if wanted[topic] == nil, sent[topic] == nil { settle(topic, "") }
    }

    /// - Parameter posts: messages that are now on their way.
    package mutating func send(_ posts: [Post]) {
        for post in posts { sent[post.topic] = post.payload }
    }

    /// Notes that the broker has acknowledged everything that was on its way.
    package mutating func accept() {
        for (topic, payload) in sent { settle(topic, payload) }
        sent = [:]
    }

    private mutating func settle(_ topic: String, _ payload: String) {
        accepted[topic] = payload.isEmpty ? nil : payload
        strangers.remove(topic)
        if isDue(topic) { dirty.insert(topic) } else { dirty.remove(topic) }
    }

    private func isDue(_ topic: String) -> Bool {
        if let wanted = wanted[topic] { return accepted[topic] != wanted }
        return accepted[topic] != nil || strangers.contains(topic)
    }

    /// Whether the broker has everything that is wanted.
    /// - Parameter mayRemove: as for `due`.
    package func isSettled(mayRemove: Bool) -> Bool {
        !dirty.contains { isDue($0) && (mayRemove || wanted[$0] != nil) }
    }

    /// What is to be sent now: descriptions first, then states, and finally the message that the stack is online.
    /// - Parameters:
    ///   - mayRemove: whether the content is complete, so that anything not wanted can be removed.
    ///   - most: the maximum number to return; the others are due again afterwards.
    package func due(mayRemove: Bool, most: Int = Publish.most) -> [Post] {
        var posts: [Post] = []
        for topic in dirty where isDue(topic) && (mayRemove || wanted[topic] != nil) {
            posts.append(Post(topic: topic, payload: wanted[topic] ?? ""))
        }
        posts.sort { (rank($0.topic), $0.topic) < (rank($1.topic), $1.topic) }
        return Array(posts.prefix(most))
    }

    private func rank(_ topic: String) -> Int { topics.isDiscovery(topic) ? 0 : topic == topics.status ? 2 : 1 }
}
