import HealthModel

/// Works like Core Location's `CLMonitor` for one place: takes fixes in order of time and produces visits. Pure.
///
/// A state changes only when fixes agree on the new state for `PlaceRules.settle` without a contrary fix in between;
/// the new state then holds from the first of these fixes. A single jump changes nothing. A person who is already
/// inside when first seen counts as having entered. After a gap without a decisive fix, nothing is known, and
/// monitoring starts over.
package struct PlaceMonitor: Sendable {
    package enum State: String, Sendable { case satisfied, unsatisfied, unknown }

    package struct Event: Sendable, Equatable {
        package var state: State
        /// The state before this one.
        package var from: State
        package var time: Instant

        package init(state: State, from: State, time: Instant) {
            (self.state, self.from, self.time) = (state, from, time)
        }
    }

    package let condition: PlaceCondition
    private let rules: PlaceRules
    package private(set) var state = State.unknown
    package private(set) var lastEvent: Event?
    package private(set) var events: [Event] = []
    /// The visits that are over, and the current one.
    package var visits: [PlaceVisit] { past + [open].compactMap { $0 } }
    /// How many fixes didn't decide anything, because they were too coarse or too near the edge.
    package private(set) var undecided = 0

    private var past: [PlaceVisit] = []
    private var open: PlaceVisit?
    /// A different state on which recent fixes agree, but not yet for long enough.
    private var candidate: (state: State, visit: PlaceVisit)?
    /// The time of the latest decisive fix.
    private var decided: Instant?

    package init(_ condition: PlaceCondition, rules: PlaceRules) { (self.condition, self.rules) = (condition, rules) }

    /// Takes the next fix. A fix earlier than the last decisive one changes nothing.
    package mutating func take(_ fix: LocationFix) {
        if let decided, fix.time < decided { return }
        let distance = condition.centre.distance(to: fix.place)
        guard let isInside = rules.verdict(fix, condition, distance: distance) else {
            undecided += 1
            return
        }
        forget(at: fix.time)
        decided = fix.time
        let seen: State = isInside ? .satisfied : .unsatisfied
        if seen == state {
            candidate = nil
            if isInside { open?.add(fix.time, distance) }
            return
        }
        if candidate?.state == seen {
            candidate?.visit.add(fix.time, distance)
        } else {
            candidate = (seen, PlaceVisit(place: condition.name, at: fix.time, distance: distance, from: state))
        }
        guard let (_, visit) = candidate, fix.time - visit.arrival >= rules.settle else { return }
        candidate = nil
        enter(seen, visit)
    }

    /// After a gap nothing is known, so a visit ends with the last fix that showed it.
    package mutating func forget(at now: Instant) {
        guard let last = decided, now - last > rules.gap else { return }
        decided = nil
        candidate = nil
        close(departure: nil)
        state = .unknown
    }

    private mutating func enter(_ new: State, _ visit: PlaceVisit) {
        let event = Event(state: new, from: state, time: visit.arrival)
        close(departure: visit.arrival)
        if new == .satisfied { open = visit }
        state = new
        lastEvent = event
        events.append(event)
    }

    private mutating func close(departure: Instant?) {
        guard var visit = open else { return }
        visit.departure = departure
        past.append(visit)
        open = nil
    }
}

/// One stay at a place.
package struct PlaceVisit: Sendable, Equatable {
    package var place: String
    /// The first fix inside.
    package var arrival: Instant
    /// The last one.
    package var lastSeen: Instant
    /// The first fix outside; nil if there is none, because the person is still there or there were no more fixes.
    package var departure: Instant?
    /// Whether the arrival was observed; otherwise the person was already inside when first seen.
    package var isEntered: Bool
    /// The number of fixes inside, and the distance of the nearest one from the centre, in metres.
    package var fixes = 1
    package var nearest: Double

    init(place: String, at time: Instant, distance: Double, from state: PlaceMonitor.State) {
        self.place = place
        (arrival, lastSeen, nearest) = (time, time, distance)
        isEntered = state == .unsatisfied
    }

    /// When the visit ended, or the time of the last fix inside if the end isn't known.
    package var end: Instant { departure ?? lastSeen }

    mutating func add(_ time: Instant, _ distance: Double) {
        lastSeen = time
        fixes += 1
        nearest = min(nearest, distance)
    }
}
