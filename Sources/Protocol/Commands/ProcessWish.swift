import HealthModel

/// What `control.supervisor` asks for: that an instance's process stay down, or run again.
package struct ProcessWish: BusCommand, Equatable {
    package static let name = "process"

    /// The request's own id; a request with the same id is carried out only once.
    package var id: String
    package var instance: String
    /// Whether the instance is to run.
    package var runs: Bool

    package init(id: String, instance: String, runs: Bool) {
        (self.id, self.instance, self.runs) = (id, instance, runs)
    }
}
