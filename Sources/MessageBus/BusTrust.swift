import Protocol

/// Decides whether a message counts, based on its sender.
///
/// On a sealed bus the hub has verified the name in the header (`from`), so the decision rests on who really sent it.
/// On an open bus the name is only the sender's claim: the same rule then stops mistakes, not attackers.
package final class BusTrust: Sendable, Equatable {
    let believes: @Sendable (Message) -> Bool

    package init(_ believes: @escaping @Sendable (Message) -> Bool) { self.believes = believes }

    package func callAsFunction(_ message: Message) -> Bool { believes(message) }

    package static func == (a: BusTrust, b: BusTrust) -> Bool { a === b }
}
