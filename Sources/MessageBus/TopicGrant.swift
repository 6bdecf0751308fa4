/// What one identity may do on a sealed bus.
package struct TopicGrant: Sendable, Equatable {
    /// What it may publish, and what it may receive.
    package let publishes: [Subscription]
    package let hears: [Subscription]
    /// Which sender names it may use (`from` in the header).
    package let names: [Subscription]
    private let publishBytes: [Pattern]
    private let hearBytes: [Pattern]
    private let nameBytes: [Pattern]

    package init(publishes: [Subscription], hears: [Subscription], names: [Subscription]) {
        (self.publishes, self.hears, self.names) = (publishes, hears, names)
        publishBytes = publishes.map(Pattern.init)
        hearBytes = hears.map(Pattern.init)
        nameBytes = names.map(Pattern.init)
    }

    /// Compared as bytes, since the hub checks each message.
    package struct Pattern: Sendable, Hashable {
        private enum Rest: Sendable { case none, anything, numbers }

        private let bytes: [UInt8]
        private let rest: Rest

        package init(_ subscription: Subscription) {
            bytes = Array(subscription.text.utf8)
            rest =
                switch subscription {
                case .exact: .none
                case .prefix: .anything
                case .tools: .numbers
                }
        }

        package func matches(_ topic: some Collection<UInt8>) -> Bool {
            switch rest {
            case .none: topic.elementsEqual(bytes)
            case .anything: topic.starts(with: bytes)
            case .numbers: topic.starts(with: bytes) && BusName.areNumbers(topic.dropFirst(bytes.count))
            }
        }

        /// Whether any topic could match both patterns; true if in doubt.
        func mayMeet(_ other: Pattern) -> Bool { bytes.starts(with: other.bytes) || other.bytes.starts(with: bytes) }
    }

    package func mayPublish(_ topic: String) -> Bool { publishBytes.contains { $0.matches(topic.utf8) } }
    package func mayHear(_ topic: String) -> Bool { hearBytes.contains { $0.matches(topic.utf8) } }
    package func mayBe(_ name: String) -> Bool { nameBytes.contains { $0.matches(name.utf8) } }

    /// Whether the identity may receive any topic that matches this pattern.
    package func mayHearAny(_ wanted: Pattern) -> Bool { hearBytes.contains { $0.mayMeet(wanted) } }

    package func mayPublish(_ topic: UnsafeRawBufferPointer) -> Bool { publishBytes.contains { $0.matches(topic) } }
    package func mayHear(_ topic: UnsafeRawBufferPointer) -> Bool { hearBytes.contains { $0.matches(topic) } }
}

/// Who may connect to a sealed hub, and what each may do there.
package struct GuestList: Sendable, Equatable {
    /// The owner of each public key (Z85). An identity may have two keys while one replaces the other.
    package var identities: [String: String] = [:]
    package var grants: [String: TopicGrant] = [:]

    package init() {}
}

/// What seals a hub: its own key pair and its guest list. Both are read again every second.
package struct HubSeal: Sendable {
    package let keys: @Sendable () throws -> BusKeyPair
    package let guests: @Sendable () throws -> GuestList

    package init(keys: @escaping @Sendable () throws -> BusKeyPair, guests: @escaping @Sendable () throws -> GuestList)
    {
        (self.keys, self.guests) = (keys, guests)
    }
}
