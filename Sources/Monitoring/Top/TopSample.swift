import HealthModel
import Inspection
import MessageBus
import Protocol

/// The state of a stack at one moment, from heartbeats and the supervisor.
package struct TopSample: Sendable {
    package struct Process: Sendable {
        package var name: String
        /// The state as the supervisor reports it; nil if it sent no report.
        package var supervised: String?
        package var restarts: Int?
        package var beat: Heartbeat?
        /// When the heartbeat arrived.
        package var arrived: MonotonicTime
        /// The previous heartbeat, from which rates are computed.
        package var earlier: (beat: Heartbeat, arrived: MonotonicTime)?
    }

    package var processes: [Process]
    /// The wall-clock time.
    package var now: Instant
    /// The time by the monotonic clock.
    package var monotonic: MonotonicTime

    package init(processes: [Process], now: Instant, monotonic: MonotonicTime) {
        (self.processes, self.now, self.monotonic) = (processes, now, monotonic)
    }

    /// - Parameters:
    ///   - names: the configuration's instances, in order.
    ///   - beats: the heartbeats, with their age in seconds.
    package init(
        names: [String], beats: Beats, now: Instant, monotonic: MonotonicTime
    ) {
        var supervised: [String: SupervisorDetails.Process] = [:]
        if let supervisor = beats["supervisor"], supervisor.age < Self.patience.seconds {
            for process in supervisor.beat.supervisor?.processes ?? [] { supervised[process.name] = process }
        }
        let processes = (names + ["supervisor"]).map { name in
            Process(
                name: name, supervised: supervised[name]?.state,
                restarts: supervised[name]?.restarts, beat: beats[name]?.beat,
                arrived: monotonic - .seconds(beats[name]?.age ?? 0))
        }
        self.init(processes: processes, now: now, monotonic: monotonic)
    }

    /// The sample with rates based on `old`, the previous sample. A process that hasn't reported since then (at rest
    /// the hub reports only every 12 s, whatever the interval) keeps its earlier rates.
    package func following(_ old: TopSample) -> TopSample {
        let before = Dictionary(uniqueKeysWithValues: old.processes.map { ($0.name, $0) })
        var sample = self
        for index in sample.processes.indices {
            guard let past = before[processes[index].name], let beat = past.beat else { continue }
            if beat == processes[index].beat {
                sample.processes[index].earlier = past.earlier
                sample.processes[index].arrived = past.arrived
            } else {
                sample.processes[index].earlier = (beat, past.arrived)
            }
        }
        return sample
    }

    /// A process that hasn't reported for this long is silent.
    static let patience = Repetition.silence
}
