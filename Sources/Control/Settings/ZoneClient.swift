import Client
import Clocks
import HealthModel
import Inspection
import Logging

/// Changes a person's zone timeline on a running observer: says it until the timeline shows it.
package struct ZoneClient {
    package enum Change: Sendable {
        case set(zone: String)
        case add(from: Instant, zone: String)
        case remove(from: Instant)

        /// What `control.<observer>` carries.
        var command: [String: Value] {
            switch self {
            case .set(let zone): ["action": "set", "zone": .string(zone)]
            case .add(let from, let zone): ["action": "add", "from": .integer(from), "zone": .string(zone)]
            case .remove(let from): ["action": "remove", "from": .integer(from)]
            }
        }

        /// Whether a timeline is as this change makes it.
        func shows(in parts: [ZonePlan.Part]) -> Bool {
            switch self {
            case .set(let zone): parts.first?.zone == zone
            case .add(let from, let zone): parts.contains(.init(from: from, zone: zone, origin: .added))
            case .remove(let from): !parts.isEmpty && !parts.contains { $0.from == from && $0.origin == .added }
            }
        }
    }

    private let client: StackClient
    private let observer: String
    private let hub: String

    package init(client: StackClient, observer: String, hub: String = "hub") {
        self.client = client
        self.observer = observer
        self.hub = hub
    }

    /// - Returns: the timeline as it is then.
    /// - Throws: `Failure` when the observer doesn't do it within `seconds`.
    package func apply(_ change: Change, user: String, within seconds: Double = 20) throws -> [ZonePlan.Part] {
        let wait = AnswerWait(client, for: observer, hub: hub)
        try wait.untilHeard()
        let deadline = MonotonicClock.now + .seconds(seconds)
        while MonotonicClock.now < deadline {
            client.command(observer, change.command.merging(["command": "zone", "user": .string(user)]) { $1 })
            let pages = try client.ask(observer, ZoneReport.query(user), within: 0.3)
            if let page = pages?.first, let parts = ZoneReport.parts(page["timeline"]), change.shows(in: parts) {
                return parts
            }
            wait.look()
        }
        throw wait.failure(
            else: Failure(
                "'\(observer)' doesn't take the zone",
                hint: "'healthbus status' tells how it is; try again, a repeat changes nothing"))
    }
}
