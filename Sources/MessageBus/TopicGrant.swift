/// What one identity may do on a sealed bus.
public struct TopicGrant: Sendable, Equatable {
    /// What it may publish, and what reaches it.
    public let publishes: [Subscription]
    public let hears: [Subscription]
    /// What it may give as its name (`from` in the header).
    public let names: [Subscription]
    private let publishBytes: [Pattern]
    private let hearBytes: [Pattern]
    private let nameBytes: [Pattern]

    public init(publishes: [Subscription], hears: [Subscription], names: [Subscription]) {
        self.publishes = publishes
        self.hears = hears
        self.names = names
        publishBytes = publishes.map(Pattern.init)
        hearBytes = hears.map(Pattern.init)
        nameBytes = names.map(Pattern.init)
    }

    /// Compared as bytes: the hub asks for each message.
    struct Pattern: Sendable, Equatable {
        let bytes: [UInt8]
        let isPrefix: Bool

        init(_ subscription: Subscription) {
            bytes = Array(subscription.text.utf8)
            if case .prefix = subscription { isPrefix = true } else { isPrefix = false }
        }

        func matches(_ topic: some Collection<UInt8>) -> Bool {
            isPrefix ? topic.starts(with: bytes) : topic.elementsEqual(bytes)
        }
    }

    public func mayPublish(_ topic: String) -> Bool { publishBytes.contains { $0.matches(topic.utf8) } }
    public func mayHear(_ topic: String) -> Bool { hearBytes.contains { $0.matches(topic.utf8) } }
    public func mayBe(_ name: String) -> Bool { nameBytes.contains { $0.matches(name.utf8) } }

    func mayPublish(_ topic: UnsafeRawBufferPointer) -> Bool { publishBytes.contains { $0.matches(topic) } }
    func mayHear(_ topic: UnsafeRawBufferPointer) -> Bool { hearBytes.contains { $0.matches(topic) } }
}

/// Who may connect to a sealed hub, and what each may do there.
public struct GuestList: Sendable, Equatable {
    /// Whose each public key (Z85) is. Somebody may have two while one replaces the other.
    public var identities: [String: String]
    public var grants: [String: TopicGrant]

    public init(identities: [String: String] = [:], grants: [String: TopicGrant] = [:]) {
        self.identities = identities
        self.grants = grants
    }
}

/// What seals a hub: its own key pair and its guest list. Both are asked for again each second.
public struct HubSeal: Sendable {
    let keys: @Sendable () throws -> BusKeyPair
    let guests: @Sendable () throws -> GuestList

    public init(keys: @escaping @Sendable () throws -> BusKeyPair, guests: @escaping @Sendable () throws -> GuestList) {
        self.keys = keys
        self.guests = guests
    }
}
