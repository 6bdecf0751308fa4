/// What the broker should have retained, and what it has said that it has. Pure.
package struct BrokerBoard: Sendable, Equatable {
    /// A retained message; an empty payload removes what is there.
    package struct Post: Sendable, Equatable {
        package var topic: String
        package var payload: String

        package init(topic: String, payload: String) {
            self.topic = topic
            self.payload = payload
        }
    }

    private let topics: MQTTTopics
    private var wanted: [String: String] = [:]
    /// In this connection: a broker that comes back may have forgotten anything.
    private var accepted: [String: String] = [:]
    /// Topics of ours with something that isn't wanted.
    private var strangers: Set<String> = []

    package init(_ topics: MQTTTopics) { self.topics = topics }

    package mutating func want(_ messages: [String: String]) { wanted = messages }

    /// It can't be known what the broker has: everything is sent again.
    package mutating func forget() {
        strangers.formUnion(accepted.keys)
        accepted = [:]
    }

    /// The broker has one topic of ours otherwise than it accepted it.
    package mutating func doubt(_ topic: String) { accepted[topic] = nil }

    /// The broker has something retained there.
    package mutating func found(_ topic: String) {
        if topics.isOwn(topic), accepted[topic] == nil { strangers.insert(topic) }
    }

    package mutating func accept(_ posts: [Post]) {
        for post in posts {
            accepted[post.topic] = post.payload.isEmpty ? nil : post.payload
            strangers.remove(post.topic)
        }
    }

    /// What is to be sent now: descriptions first, then states, at last that the stack is there.
    /// - Parameter mayRemove: whether the content is complete, so that what isn't wanted is gone for good.
    package func due(mayRemove: Bool) -> [Post] {
        var posts = wanted.filter { accepted[$0.key] != $0.value }.map { Post(topic: $0.key, payload: $0.value) }
        if mayRemove {
            let gone = strangers.union(accepted.keys).filter { wanted[$0] == nil }
            posts += gone.map { Post(topic: $0, payload: "") }
        }
        return posts.sorted { (rank($0.topic), $0.topic) < (rank($1.topic), $1.topic) }
    }

    private func rank(_ topic: String) -> Int { topics.isDiscovery(topic) ? 0 : topic == topics.status ? 2 : 1 }
}
