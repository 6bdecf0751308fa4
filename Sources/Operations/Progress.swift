import HealthModel
import Protocol

/// Whatever changes in a heartbeat while its instance gets something done: two that are equal show no progress.
struct Progress: Equatable {
    private let head: Int64
    private let frontier: [String: Int64]
    private let stage: StageDetails
    private let reading: ObserverDetails.Reading?
    private let openDays: Int?
    private let delivered: [String: Int64]?

    init(_ beat: Heartbeat?) {
        head = beat?.head?.sequence ?? 0
        frontier = beat?.frontier ?? [:]
        var stage = beat?.stage ?? StageDetails()
        // Repetitions, reasons and what merely waits are no progress.
        (stage.messages, stage.blocked, stage.refusals, stage.tasks) = (nil, nil, [:], nil)
        self.stage = stage
        reading = beat?.observer?.reading
        openDays = beat?.consolidator?.openDays
        delivered = beat?.uploader?.delivered
    }
}
