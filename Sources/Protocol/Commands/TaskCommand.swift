import HealthModel

/// To the host of a scheduled task, from a person, a companion or a simulator: the command's name says what to do with
/// the task.
package struct TaskCommand: Codable, Sendable, Equatable {
    package enum Action: String, Codable, Sendable { case launch, expire, cancel }

    package var action: Action
    /// A task's identifier.
    package var task: String
    /// For launch: whether to ignore the task's conditions.
    @IfReadable package var force: Bool?

    package init(_ action: Action, task: String, force: Bool? = nil) {
        (self.action, self.task, self.force) = (action, task, force)
    }

    private enum CodingKeys: String, CodingKey {
        case action = "command"
        case task, force
    }

    package init?(_ body: Value) {
        guard let command = body.read(TaskCommand.self) else { return nil }
        self = command
    }

    package var body: [String: Value] { Value(self).object ?? [:] }
}
