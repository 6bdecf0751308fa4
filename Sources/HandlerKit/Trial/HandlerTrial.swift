import Changelog
import Client
import Clocks
import Foundation
import HealthModel
import Logging
import MessageBus
import Protocol
import SQLite
import StageKit

/// Makes a standby handler compute days of the process that it will replace, and compares the figures. Nothing is
/// written or published.
struct HandlerTrial {
    let handler: HandlerStage
    let effects: (any EffectRunner)?
    let client: StackClient

    /// Enough days to cover each day of the week twice, but few enough to take only a second.
    static let days = 14
    /// How many further days are tried for their events: more than a year of nights, in a few seconds.
    static let eventDays = 400
    private static let eventTime = Duration.seconds(10)
    /// Events whose samples have just been deleted look as if the new process lost them. So if only a few days lose
    /// any, these are compared again a moment later.
    private static let secondLooks = 20
    private static let secondLook = 1.0
    private static let patience = 60.0

    /// - Throws: an error that makes the trial impossible; a day that fails is only counted.
    func run(path: String) throws -> TrialReport {
        var report = TrialReport()
        // An instance that has never run has nothing to compare with.
        guard FileManager.default.fileExists(atPath: path) else { return report }
        let database = try Database(path: path, mode: .readOnly)
        guard try HandlerStage.computedWith(database) != nil else { return report }
        let (observer, asked) = (handler.upstream.producer, handler.computer.traits.characteristics)
        let known = try TrialDays(
            in: database, observer: observer, asked: asked, count: Self.days, eventCount: Self.eventDays)
        var events = EventTally()
        for day in known.days {
            guard let output = try output(of: day, known, &report) else { continue }
            report.take(output, user: day.user, date: "\(day.day)", rows: day.isSettled ? day.rows : nil)
            if day.isSettled { events.compare(day, with: output) }
        }
        let deadline = MonotonicClock.now + Self.eventTime
        for day in known.eventDays {
            // A plugin that fails is refused anyway.
            guard report.failed.isEmpty, MonotonicClock.now < deadline else { break }
            guard let output = try output(of: day, known, &report) else { continue }
            report.eventDays = (report.eventDays ?? 0) + 1
            events.compare(day, with: output)
        }
        if (1...Self.secondLooks).contains(events.losses.count) {
            Thread.sleep(forTimeInterval: Self.secondLook)
            let again = try TrialDays(events.losses, in: database, observer: observer, asked: asked)
            for key in events.losses where !again.eventDays.contains(where: { $0.key == key }) { events.leaveOut(key) }
            for day in again.eventDays {
                guard let output = try output(of: day, again, &report) else { continue }
                events.compare(day, with: output)
            }
        }
        report.events = events.report.isEmpty ? nil : events.report
        return report
    }

    /// What the new process computes for a day; nil if it fails, which is noted.
    private func output(of day: TrialDays.Day, _ known: TrialDays, _ report: inout TrialReport) throws -> DayOutput? {
        guard let zones = known.timelines[day.user] else { return nil }
        let window = try handler.computer.traits.window(handler.configuration)
        let input = DayInput(
            user: day.user, day: day.day, window: window, zones: zones,
            cutting: try samples(handler.slice(day.user, [day.day], zones, as: known.cursor, window), as: known.cursor),
            configuration: handler.configuration, characteristics: known.characteristics[day.user])
        do {
            return try compute(input)
        } catch let failure as DayFailure {
            report.failed.append(.init(date: "\(day.day)", why: failure.description))
            return nil
        }
    }

    private func samples(_ slice: SliceRequest, as cursor: Cursor) throws -> SamplePage {
        var slice = slice
        var samples = SamplePage()
        let place = PullPlace(store: cursor.store, generation: cursor.generation)
        while true {
            let answer: [Page<SlicePage>]? = try client.ask(
                handler.upstream.producer, .slice(slice), place, within: Self.patience)
            guard let pages = answer else {
                throw Failure(
                    "the \(handler.upstream.producer) sent no samples to try it on within \(Int(Self.patience)) s")
            }
            guard let last = pages.last else {
                throw Failure("the \(handler.upstream.producer) started over during the trial", hint: "try again")
            }
            for page in pages { samples.append(page.samples) }
            guard let place = last.continue else { return samples }
            slice.continue = place
        }
    }

    private func compute(_ input: DayInput) throws -> DayOutput {
        switch handler.computer {
        case .function(let function):
            do { return try function.compute(input) } catch { throw DayFailure(description: "\(error)") }
        case .beside:
            let replies = Mailbox<EffectResult>(capacity: 1)
            effects?.perform(Effect(id: 0, request: DayRequest(input: input))) { replies.offer($0) }
            // No limit is needed here: the program has its own time limits, and so does the process that waits for this
            // one.
            guard let reply = replies.take(limit: 1, timeout: 86_400).first?.value as? DayReply else {
                throw Failure("the program was stopped during the trial")
            }
            switch reply {
            case .computed(let output): return output
            case .failed(let why): throw DayFailure(description: why)
            case .unavailable(let error): throw error
            }
        }
    }
}
