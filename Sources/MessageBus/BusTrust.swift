import Protocol

/// Decides whether what somebody says counts for whoever hears it.
///
/// On a sealed bus the hub has proven the name in the header (`from`), so this decides by who said it. On an open bus
/// the name is the sender's own word: the
/// same rule then stops mistakes, not attackers.
package final class BusTrust: Sendable, Equatable {
    let believes: @Sendable (Message) -> Bool

    package init(_ believes: @escaping @Sendable (Message) -> Bool) { self.believes = believes }

    package func callAsFunction(_ message: Message) -> Bool { believes(message) }

    package static func == (a: BusTrust, b: BusTrust) -> Bool { a === b }
}
