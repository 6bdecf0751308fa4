import HealthModel
import Protocol

/// The latest heartbeat of each instance, with its age in seconds.
package typealias Beats = [String: (beat: Heartbeat, age: Double)]

/// Everything in a heartbeat that changes when its instance makes progress: if two of these are equal, there was none.
package struct Progress: Equatable {
    private let head: SequenceNumber
    private let frontier: [String: SequenceNumber]
    private let stage: StageDetails
    private let reading: ObserverDetails.Reading?
    private let openDays: Int?
    private let delivered: [String: Int64]?
    private let comparing: Int64?

    package init(_ beat: Heartbeat) {
        head = beat.head?.sequence ?? .beginning
        frontier = beat.frontier
        var stage = beat.stage
        // Repetitions, reasons and mere waiting aren't progress.
        (stage.messages, stage.blocked, stage.refusals, stage.tasks) = (nil, nil, [:], nil)
        self.stage = stage
        reading = beat.observer?.reading
        openDays = beat.consolidator?.openDays
        delivered = beat.uploader?.delivered
        comparing = beat.uploader?.backend.comparing
    }
}

/// When heartbeats last showed any progress: a waiting command gives up once that is too long ago.
package struct ProgressWatch: Sendable {
    private var last: [String: Progress] = [:]
    /// By the monotonic clock; nil until the first check.
    private var movedAt: MonotonicTime?

    package init() {}

    /// - Returns: whether anything has moved since the last check.
    @discardableResult
    package mutating func look(_ beats: Beats, at monotonic: MonotonicTime) -> Bool {
        let now = beats.mapValues { Progress($0.beat) }
        guard now != last || movedAt == nil else { return false }
        (last, movedAt) = (now, monotonic)
        return true
    }

    /// For how long nothing has moved.
    package func stillness(at monotonic: MonotonicTime) -> Duration { movedAt.map { monotonic - $0 } ?? .zero }
}
