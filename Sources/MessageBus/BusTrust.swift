import Protocol

/// Decides whether what somebody says counts for whoever hears it.
///
/// On a sealed bus the hub has proven the name in the header (`from`), so this decides by who said it. On an open bus
/// the name is the sender's own word: the
/// same rule then stops mistakes, not attackers.
public final class BusTrust: Sendable, Equatable {
    let believes: @Sendable (Message) -> Bool

    public init(_ believes: @escaping @Sendable (Message) -> Bool) { self.believes = believes }

    public func callAsFunction(_ message: Message) -> Bool { believes(message) }

    public static func == (a: BusTrust, b: BusTrust) -> Bool { a === b }
}
