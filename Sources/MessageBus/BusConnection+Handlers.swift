import Protocol

extension BusConnection {
    /// What a process does with what it receives, and what it reports about itself.
    package struct Handlers: Sendable {
        /// Called on the bus thread with each message; must be quick.
        package var message: @Sendable (Message) -> Void
        /// Called on the bus thread with whatever couldn't be read as a message.
        package var malformed: @Sendable (MessageError) -> Void
        /// Called on the bus thread with messages that don't count because of their sender (`BusAddress.trust`).
        package var foreign: @Sendable (Message) -> Void
        /// Called when a heartbeat is due; the message that it returns is sent.
        package var heartbeat: @Sendable () -> Message?
        /// When the next heartbeat is due; called again after each message.
        package var pace: @Sendable () -> Pace
        /// Whether to send a heartbeat at once when a process asks all others to report.
        package var answersHello: Bool
        /// Called occasionally with the reason why the hub doesn't let this process in, and what to do; the process
        /// keeps trying.
        package var refused: @Sendable (String) -> Void
        /// Called once if the sockets fail; the connection is then dead.
        package var failed: @Sendable (any Error) -> Void

        package init(
            message: @escaping @Sendable (Message) -> Void,
            malformed: @escaping @Sendable (MessageError) -> Void = { _ in },
            foreign: @escaping @Sendable (Message) -> Void = { _ in },
            heartbeat: @escaping @Sendable () -> Message? = { nil },
            pace: @escaping @Sendable () -> Pace = { .quiet },
            answersHello: Bool = false,
            refused: @escaping @Sendable (String) -> Void = { _ in },
            failed: @escaping @Sendable (any Error) -> Void = { _ in }
        ) {
            (self.message, self.malformed, self.foreign, self.heartbeat) = (message, malformed, foreign, heartbeat)
            (self.pace, self.answersHello, self.refused, self.failed) = (pace, answersHello, refused, failed)
        }
    }
}
