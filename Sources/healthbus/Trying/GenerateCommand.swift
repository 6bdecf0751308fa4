import Clocks
import Foundation
import HealthGenerator
import HealthModel
import Inspection
import Logging
import Terminal

enum GenerateCommand: Command {
    static let help = CommandHelp(
        name: "healthbus generate", summary: "Write the export of a made-up person.",
        options: [
            .init(
                "--days", value: "number",
                help: "how many days (default: 90); with more days, the same samples and others, except for height"),
            .init("--seed", value: "number", help: "another seed makes another person (default: 1)"),
            .init(
                "--records", value: "number",
                help:
                    "exactly this many records, spread over the days, instead of the usual density; fewer if the last day isn't over"
            ),
            .init("--zone", value: "zone", help: "where the person lives (default: Europe/Berlin)"),
            .init("--end", value: "date", help: "the last day (default: 2025-04-05); today ends now"),
            .init(
                "--units", value: "system", words: UnitSystem.allCases.map(\.rawValue),
                help: "metric or imperial (default: metric)"),
            .init(
                "--messy",
                help:
                    "with what real exports suffer from: other apps' sums, nights without a watch, late and repeated data, travel and more (docs/operating.md lists them)"
            ),
            .init("--output", short: "-o", value: "file", help: "where to write the zip"),
            .init(
                "--unmarked", help: "don't mark it as made up; 'import' uses the mark to keep it from a person's data"),
            .json,
        ],
        examples: ["healthbus generate --days 90 --seed 1 -o export.zip"])

    static func run(_ arguments: Arguments) throws {
        guard let output = arguments.value("--output") else {
            throw Failure.usage("no file to write to", hint: "name one with -o, such as -o export.zip")
        }
        var options = ExportGenerator.Options(
            days: try arguments.integer("--days", in: 1...36_525) ?? 90,
            seed: UInt64(try arguments.integer("--seed", in: 0 ... .max) ?? 1))
        options.isMarked = !arguments.flag("--unmarked")
        options.isMessy = arguments.flag("--messy")
        options.records = try arguments.integer("--records", in: 0...100_000_000)
        if let zone = arguments.value("--zone") { options.zone = zone }
        if let end = arguments.value("--end") {
            let zone = try ZoneTimeline(zone: options.zone)
            let now = WallClock.now
            options.end = try DateRange.days(end, "--end") { zone.day(of: now) }.last
            let today = zone.day(of: now)
            guard options.end <= today else {
                throw Failure.usage("\(options.end) is in the future", hint: "give today at the latest")
            }
            // A day that isn't over has no data from its future.
            if options.end == today { options.now = now }
        }
        if let system = try arguments.choice("--units", as: UnitSystem.self) { options.unitSystem = system }
        var bar = ProgressBar("generating", totalBytes: nil)
        let result = try ExportGenerator(options).write(to: output) { written, _ in
            bar.update(bytes: 0, records: written)
        }
        bar.update(bytes: result.bytes, records: result.records)
        bar.finish()
        arguments.print(
            [
                "path": .string(output), "records": .integer(Int64(result.records)),
                "workouts": .integer(Int64(result.workouts)),
                "routes": .integer(Int64(result.routes)), "correlations": .integer(Int64(result.correlations)),
                "bytes": .integer(Int64(result.bytes)),
            ],
            else:
                "\(output): \(HumanFormat.count(result.records, "record")), \(HumanFormat.count(result.workouts, "workout")), "
                + "\(HumanFormat.bytes(result.bytes)) of XML\n")
    }
}
