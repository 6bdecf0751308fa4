import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal

/// One sample's path through the stages, based on what each has stored durably. Pure.
package struct SampleTrace: Sendable {
    package struct Step: Sendable, Equatable {
        /// "stored", "fired", "released", "computed", "summarized", "delivered".
        package var name: String
        package var instance: String
        /// The local date, for steps that concern days.
        package var day: String?
        /// Whether the sample has passed this step; nil if that isn't known yet.
        package var isDone: Bool?
        /// The time by which the stage had committed it; nil if the stage doesn't record that.
        package var at: Instant?
        package var note: String
        /// Why the sample hasn't passed it, if anything holds the sample back.
        package var why: String?
    }

    /// A day's row in a changelog.
    package struct DayRow: Sendable {
        package var day: String
        package var sequence: SequenceNumber
        package var at: Instant?
        package var note: String

        package init(day: String, sequence: SequenceNumber, at: Instant?, note: String = "") {
            (self.day, self.sequence, self.at, self.note) = (day, sequence, at, note)
        }
    }

    /// The stages' answers.
    package struct Facts: Sendable {
        package var place: SampleWhereabouts
        package var observer: String
        package var debouncer: String?
        package var handler: String?
        package var consolidator: String?
        package var uploaders: [String] = []
        package var days: [String] = []
        package var figures: [DayRow] = []
        package var summaries: [DayRow] = []
        /// Read from the running instances.
        package var beats: [String: Heartbeat] = [:]

        package init(place: SampleWhereabouts, observer: String) { (self.place, self.observer) = (place, observer) }
    }

    package let steps: [Step]

    package init(_ facts: Facts) {
        let place = facts.place
        let (sequence, type) = (place.sequence, place.type)
        func reached(_ instance: String?, _ upstream: String?, _ goal: SequenceNumber) -> Bool? {
            guard let instance, let upstream, let beat = facts.beats[instance] else { return nil }
            let consumed =
                upstream == facts.observer ? beat.stage.consumed : nil
            return max(beat.frontier[upstream] ?? .beginning, consumed?[type] ?? .beginning) >= goal
        }
        let change = place.born == place.sequence ? "" : ", changed since"
        let ids = "id \(place.id)" + (place.uuid.map { ", HealthKit's UUID \($0)" } ?? "")
        var steps = [
            Step(
                name: "stored", instance: facts.observer, day: nil, isDone: true, at: place.changed,
                note:
                    "\(type) of \(place.user), \(place.state.rawValue)\(change), sequence \(sequence), \(ids)"
            )
        ]
        guard place.state != .quarantined else {
            self.steps = steps
            return
        }
        let fired = facts.beats[facts.observer].map { beat in
            (beat.observer?.fired?[type] ?? .end) >= sequence
        }
        steps.append(Step(name: "fired", instance: facts.observer, day: nil, isDone: fired, at: nil, note: ""))
        if let debouncer = facts.debouncer {
            // If a consumer has consumed it, it was released.
            let consumed = reached(facts.handler, facts.observer, sequence) == true
            steps.append(
                Step(
                    name: "released", instance: debouncer, day: nil,
                    isDone: consumed ? true : reached(debouncer, facts.observer, sequence), at: nil, note: ""))
        }
        if let handler = facts.handler {
            let isDone = reached(handler, facts.observer, sequence)
            steps += facts.days.map { Self.step("computed", handler, $0, isDone, facts.figures) }
        }
        if let consolidator = facts.consolidator {
            let isDone = reached(consolidator, facts.observer, sequence)
            steps += facts.days.map { Self.step("summarized", consolidator, $0, isDone, facts.summaries) }
        }
        for uploader in facts.uploaders {
            let isTrusted = facts.beats[uploader]?.uploader?.backend.acceptance == .trust
            let trust = isTrusted ? DestinationReport.onTrust : ""
            let isWorkout = type == HealthType.workoutIdentifier
            // A workout is delivered as its handler's event, whose row is older than that of the day's figures, unless
            // only the event has changed.
            let sample =
                isWorkout
                ? facts.figures.map { reached(uploader, facts.handler, $0.sequence) }.min { $1 ?? true || $0 == nil }
                    ?? nil
                : reached(uploader, facts.observer, sequence)
            steps.append(
                Step(
                    name: "delivered", instance: uploader, day: nil, isDone: sample, at: nil,
                    note: (isWorkout ? "the workout" : "the sample") + trust))
            for day in facts.days {
                guard let row = facts.summaries.last(where: { $0.day == day }) else { continue }
                let summarized = reached(facts.consolidator, facts.observer, sequence)
                let sent = reached(uploader, facts.consolidator, row.sequence)
                let isDone = summarized == true ? sent : summarized
                steps.append(
                    Step(
                        name: "delivered", instance: uploader, day: day, isDone: isDone, at: nil,
                        note: "the summary" + trust))
            }
        }
        self.steps = steps.map { step in
            var step = step
            if step.isDone != true { step.why = Self.why(step, facts) }
            return step
        }
    }

    private static func why(_ step: Step, _ facts: Facts) -> String? {
        // Of a stopped stack, nothing is known but what is stored.
        guard let observer = facts.beats[facts.observer] else { return nil }
        guard let beat = facts.beats[step.instance] else { return HeldBack.silent(step.instance) }
        return switch step.name {
        case "fired": HeldBack.firing(of: facts.place.type, beat)
        case "released": HeldBack.releasing(beat, observer: observer)
        default: HeldBack.working(beat)
        }
    }

    private static func step(
        _ name: String, _ instance: String, _ day: String, _ isDone: Bool?, _ rows: [DayRow]
    ) -> Step {
        let row = rows.last { $0.day == day }
        return Step(
            name: name, instance: instance, day: day, isDone: isDone, at: isDone == false ? nil : row?.at,
            note: row.map { "row \($0.sequence)" + ($0.note.isEmpty ? "" : ", \($0.note)") }
                ?? "no row: nothing to say about that day")
    }

    /// Whether the sample has passed every step.
    package var isThrough: Bool { steps.allSatisfy { $0.isDone == true } }
}

extension SampleTrace.Step {
    /// - Parameter seen: when the step was first seen to be done while following; nil if it was done before that.
    package func line(seen: Instant?, for terminal: Terminal) -> String {
        func clock(_ time: Instant) -> String {
            guard terminal.isTerminal else { return InstantText.iso8601(time) }
            return String(InstantText.iso8601(time).replacingOccurrences(of: "T", with: " ").prefix(23))
        }
        let when: String
        switch (isDone, at ?? seen) {
        case (true?, let time?): when = clock(time)
        case (true?, nil): when = "before now"
        case (false?, _): when = "not yet"
        case (nil, let time?): when = clock(time)
        case (nil, nil): when = "unknown"
        }
        let what = [day, note, isDone == true ? nil : why].compactMap { $0 }.filter { !$0.isEmpty }.joined(
            separator: ", ")
        return [when.padding(terminal.isTerminal ? 24 : 28), instance.padding(14), name.padding(12), what].joined()
            .withoutTrailingSpaces
    }

    package func value(seen: Instant?) -> Value {
        [
            "step": .string(name), "instance": .string(instance), "day": Value(day),
            "done": isDone.map { .bool($0) } ?? .null,
            "at": Value(at.map { InstantText.iso8601($0) }), "seen": Value(seen.map { InstantText.iso8601($0) }),
            "note": .string(note), "why": isDone == true ? .null : Value(why),
        ]
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
