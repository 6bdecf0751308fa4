import Changelog
import Client
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
    private static let patience = 60.0

    /// - Throws: an error that makes the trial impossible; a day that fails is only counted.
    func run(path: String) throws -> TrialReport {
        var report = TrialReport()
        // An instance that has never run has nothing to compare with.
        guard FileManager.default.fileExists(atPath: path) else { return report }
        let database = try Database(path: path, mode: .readOnly)
        let traits = handler.computer.traits
        let known = try TrialDays(
            in: database, observer: handler.upstream.producer, asked: traits.characteristics, count: Self.days)
        let window = try traits.window(handler.configuration)
        for (number, day) in known.days.enumerated() {
            guard let zones = known.timelines[day.user] else { continue }
            let input = DayInput(
                user: day.user, day: day.day, window: window, zones: zones,
                cutting: try samples(
                    handler.slice(day.user, [day.day], zones, as: known.cursor, window), as: known.cursor),
                configuration: handler.configuration, characteristics: known.characteristics[day.user])
            do {
                report.take(
                    try compute(input, number: number), user: day.user, date: "\(day.day)",
                    rows: day.isSettled ? day.rows : nil)
            } catch let failure as DayFailure {
                report.failed.append(.init(date: "\(day.day)", why: failure.description))
            }
        }
        return report
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

    private func compute(_ input: DayInput, number: Int) throws -> DayOutput {
        switch handler.computer {
        case .function(let function):
            do { return try function.compute(input) } catch { throw DayFailure(description: "\(error)") }
        case .beside:
            let replies = Mailbox<EffectResult>(capacity: 1)
            effects?.perform(Effect(id: Int64(number), request: DayRequest(input: input))) { replies.offer($0) }
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
