import BackgroundDelivery
import HealthModel
import Protocol

extension Heartbeat {
    /// Adds to a test's members everything else that an instance of its kind always reports.
    package mutating func say(_ named: [String: Value]) {
        var named = named
        if let device = named["device"] { named["device"] = device.over(Value(DeviceState())) }
        details = HeartbeatDetails(Value.object(named).over(Value(details)).over(always))
    }

    /// The same, for a heartbeat that is composed in a test.
    package func saying(_ named: [String: Value]) -> Heartbeat {
        var beat = self
        beat.say(named)
        return beat
    }

    private var always: Value {
        switch instance {
        case "observer": Value(ObserverDetails(importOpen: false, quarantined: 0))
        case "debouncer": Value(DebouncerDetails(pending: 0))
        case "consolidator": Value(ConsolidatorDetails(days: 0, openDays: 0, missing: []))
        case "uploader": Value(UploaderDetails())
        case "notify": Value(NotifierDetails(told: 0, givenUp: 0, blocked: nil, pending: 0))
        case "hub": Value(HubDetails(forwarded: 0))
        case "supervisor": Value(SupervisorDetails(processes: [], swaps: []))
        case "ingest": Value(IngestDetails(ingestPort: 1))
        case "dashboard": Value(DashboardDetails(dashboardPort: 1))
        case "backend": Value(BackendDetails(port: 1))
        default: Value(HandlerDetails(pending: 0, failedDays: 0, lastSynced: nil))
        }
    }
}

extension Value {
    /// Its own members, and any of `other`'s that it lacks, at any depth.
    fileprivate func over(_ other: Value) -> Value {
        guard case .object(let mine) = self, case .object(let others) = other else { return self }
        return .object(mine.merging(others) { $0.over($1) })
    }
}

extension UploaderDetails {
    /// For an uploader that has nothing to do, and whose backend holds what it accepted.
    fileprivate init() {
        self.init(
            deadLetters: 0, droppedLetters: 0, delivered: [:], lastDelivered: [:], delays: [:],
            delayBuckets: .init(bounds: [], metrics: [:]), answers: .init(created: 0, updated: 0, known: 0),
            blocked: nil, waitsUntil: nil, held: 0,
            backend: .init(
                acceptance: .proven, isCompared: true, compared: nil, result: nil, missing: nil, check: nil, why: nil),
            paused: false, path: nil, waiting: 0)
    }
}

extension HeartbeatDetails {
    /// A member in its wire form.
    package subscript(_ name: String) -> Value? { Value(self).object?[name] }
}
