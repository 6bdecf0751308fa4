import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol

/// `healthbus tap --follow-sample`: keeps asking the stages where one sample is until it has passed them all.
package final class SampleFollower {
    private let stack: Stack
    private let reader: StackReader
    private let id: SampleID

    /// - Parameter id: healthbus's id of a sample, or its HealthKit UUID.
    /// - Throws: `Failure` (usage) for anything that isn't an id.
    package init(_ stack: Stack, id: String) throws(Failure) {
        guard let id = SampleID(id) else {
            throw .usage("\"\(id)\" isn't a sample's id", hint: "give a healthbus id, or a HealthKit UUID")
        }
        (self.stack, self.id) = (stack, id)
        reader = stack.reader()
    }

    /// Prints each step once it is done, earlier ones first, and why a step isn't done if that lasts. It ends when no
    /// step is left or, for a stack that isn't running, once it has printed what is known.
    /// - Parameters:
    ///   - waits: whether to wait for a stack that isn't running.
    ///   - waiting: called once if there is no such sample yet.
    ///   - print: receives a step, and by when it was done, or nil if that was before the first look.
    /// - Throws: `Failure` if the stack isn't running and has no such sample.
    package func run(waits: Bool, waiting: () -> Void, print: (SampleTrace.Step, Instant?) -> Bool) throws {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        var printed: Set<String> = []
        var times = StepTimes()
        var holdup = Holdup()
        var isFirst = true
        while true {
            let runs = try reader.isRunning(stack.observer)
            guard runs || !waits else {
                // The files of a stack that may start at any moment aren't touched.
                client.wait(until: Date(timeIntervalSinceNow: 0.1))
                continue
            }
            if runs { client.gather(stack.names, within: isFirst ? 1 : 0) }
            let asked = WallClock.now
            guard let trace = try trace(runs ? client.heartbeats.mapValues(\.beat) : [:]) else {
                guard runs else {
                    throw Failure("there is no sample \(id)", hint: "'healthbus tap --since 1d samples.' shows ids")
                }
                if isFirst { waiting() }
                isFirst = false
                client.wait(until: Date(timeIntervalSinceNow: 0.1))
                continue
            }
            let steps = times.look(trace, asked: asked, isFirst: isFirst)
            for (step, seen) in steps where step.isDone == true || !runs {
                guard printed.insert("\(step.name) \(step.instance) \(step.day ?? "") \(step.note)").inserted else {
                    continue
                }
                guard print(step, seen) else { return }
            }
            if trace.isThrough || !runs || trace.steps.count == 1 { return }
            if let step = holdup.lasting(steps.map(\.step), at: asked), !print(step, nil) { return }
            isFirst = false
            client.wait(until: Date(timeIntervalSinceNow: 0.1))
        }
    }

    private func trace(_ beats: [String: Heartbeat]) throws -> SampleTrace? {
        let configuration = stack.configuration
        let observer = try stack.instance(.observer)
        let pages = try reader.pages(observer, .sample(id.description))
        guard let place = pages.last?.sample else { return nil }
        let (user, type, start, end) = (place.user, place.type, place.start, place.end)
        var facts = SampleTrace.Facts(place: place, observer: observer.name)
        let handler = configuration.handler(of: type)
        let consolidator = configuration.only(.consolidator)
        facts.beats = beats
        facts.debouncer = configuration.only(.debouncer)?.name
        facts.handler = handler?.name
        facts.consolidator = consolidator?.name
        facts.uploaders = stack.destinations.map(\.name)
        let zones = try ObserverQueries(stack, reader).zones(of: user)
        let hour = handler?.configuration["windowHour"].int
        let counted = SampleTimes.countedEnd(
            start: start.microseconds, duration: end.microseconds &- start.microseconds)
        let days = zones.days(
            touching: start, end: Instant(microseconds: counted), HandlerWindow(endHour: Int(hour ?? 24)))
        facts.days = days.map(\.description)
        for day in days {
            if let handler {
                facts.figures += try rows(handler, topic: "figures.", user: user, day: day)
            }
            if let consolidator {
                facts.summaries += try rows(consolidator, topic: "daily.summary", user: user, day: day)
            }
        }
        return SampleTrace(facts)
    }

    private func rows(
        _ instance: StackConfiguration.Instance, topic: String, user: String, day: LocalDay
    ) throws -> [SampleTrace.DayRow] {
        let pages = try reader.pages(
            instance, .day(user: user, day: day.number, topic: topic))
        let rows = pages.flatMap(\.rows)
        let times = try reader.moments(instance, of: rows.map(\.sequence))
        return zip(rows, times).map { row, time in
            let state = row.body?.read(SummaryState.self)
            let missing = (state?.missing ?? []).joined(separator: ", ")
            let provisional = "provisional" + (missing.isEmpty ? "" : ", waits for \(missing)")
            let note = state?.final.map { $0 ? "final, revision \(state?.revision ?? 0)" : provisional } ?? ""
            return SampleTrace.DayRow(day: day.description, sequence: row.sequence, at: time, note: note)
        }
    }
}
