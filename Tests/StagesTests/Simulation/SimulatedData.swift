import Configuration
import Foundation
import HealthModel
import Simulation
import StageKit
import TestSupport

/// A made-up week of two people, spread over files that overlap and arrive late, all generated from one seed.
struct SimulatedData {
    private(set) var files: [SimulatedFile] = []
    /// Each person's records, without repeats.
    private(set) var records: [String: [Record]] = [:]

    static let zone = "Europe/Berlin"
    /// In every second seed, the zones that "me" ends up with; in every seed, others are added and removed along the
    /// way.
    private(set) var travels: [ZoneTimeline.Entry] = []
    /// The only moments from which zones are added: full hours, so that a shifted midnight never cuts a record.
    private(set) var moments: [Instant] = []
    /// During this week, the zone's clocks go forward.
    static let firstDay = LocalDay(year: 2025, month: 3, day: 26)
    static let days = 7
    static let steps = "HKQuantityTypeIdentifierStepCount"

    init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &* 31 &+ 7)
        let zones = try ZoneTimeline(zone: Self.zone)
        let first = zones.ranges(of: Self.firstDay).first?.lowerBound ?? 0
        moments = [37, 61, 62, 110].map { first + .seconds($0 * 3600) }
        if seed.isMultiple(of: 2) {
            travels = [
                .init(from: moments[0], zone: "America/New_York"), .init(from: moments[2], zone: "Asia/Tokyo"),
                .init(from: moments[3], zone: Self.zone),
            ]
        }
        for (user, fileCount) in [("me", 4), ("anna", 2)] {
            var all: [Record] = []
            for number in 0..<Self.days where user == "me" || number < 3 {
                all += Self.day(Self.firstDay.adding(days: number), zones: zones, using: &random)
            }
            records[user] = all
            var contents = [[Record]](repeating: [], count: fileCount)
            for record in all {
                contents[Int.random(in: 0..<fileCount, using: &random)].append(record)
                // A later day's export contains what an earlier one contained.
                if Int.random(in: 0..<5, using: &random) == 0 {
                    contents[Int.random(in: 0..<fileCount, using: &random)].append(record)
                }
            }
            for (index, content) in contents.enumerated() {
                let size = Int.random(in: 8...60, using: &random)
                let unique = content.enumerated().filter { place, record in !content[..<place].contains(record) }
                let ordered = unique.map(\.element)
                files.append(
                    SimulatedFile(
                        id: "\(user == "me" ? "a" : "b")0000000-\(index)", user: user,
                        batches: stride(from: 0, to: ordered.count, by: size).map {
                            Record.batch(Array(ordered[$0..<min($0 + size, ordered.count)]))
                        }))
            }
        }
    }

    private static func day(_ day: LocalDay, zones: ZoneTimeline, using random: inout SeededRandom) -> [Record] {
        guard let range = zones.ranges(of: day).first else { return [] }
        let hour = Duration.seconds(3600)
        var records: [Record] = []
        // The records touch neither each other nor midnight, so a day's steps are simply their sum.
        for slot in 1..<22 where Int.random(in: 0..<2, using: &random) == 0 {
            let minutes = Int.random(in: 1...50, using: &random)
            records.append(
                Record(
                    type: steps, start: range.lowerBound + hour * slot,
                    length: .seconds(minutes * 60),
                    value: Double(Int.random(in: 1...100, using: &random) * minutes)))
        }
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            records.append(
                Record(
                    type: "HKQuantityTypeIdentifierHeartRate",
                    start: range.lowerBound
                        + .microseconds(Int64.random(in: 0..<(hour * 23).microseconds, using: &random)),
                    length: .zero,
                    value: Double(Int.random(in: 45...170, using: &random)), unit: "count/min"))
        }
        if Int.random(in: 0..<4, using: &random) > 0 {
            var at = range.lowerBound - hour
            for _ in 0..<5 {
                let length = Duration.seconds(Int64.random(in: 30...90, using: &random) * 60)
                records.append(
                    Record(
                        type: "HKCategoryTypeIdentifierSleepAnalysis", start: at, length: length,
                        value: Double(Int.random(in: 2...5, using: &random)), unit: ""))
                at += length
            }
        }
        if Int.random(in: 0..<2, using: &random) == 0 {
            records.append(
                Record(
                    type: "HKQuantityTypeIdentifierRespiratoryRate", start: range.lowerBound + 4 * hour,
                    value: Double(Int.random(in: 10...20, using: &random)), unit: "count/min"))
        }
        return records
    }

    /// Noon of the first day.
    static func start() throws -> Instant { try noon(daysAfterFirst: 0) }
    /// Noon of the day after the last: every day of the data is over.
    static func end() throws -> Instant { try noon(daysAfterFirst: days) }

    private static func noon(daysAfterFirst days: Int) throws -> Instant {
        let zones = try ZoneTimeline(zone: zone)
        return (zones.ranges(of: firstDay.adding(days: days)).first?.lowerBound ?? 0) + .seconds(12 * 3600)
    }

    /// A stack to import these files: four handlers, and retries short enough for the few seconds of a run.
    /// - Parameters:
    ///   - files: nil for all of them.
    ///   - destinations: besides the uploader, each an instance with its plugin's name.
    func stack(
        seed: UInt64, files: [SimulatedFile]? = nil, trace: Bool = false, destinations: [ModelledDestination] = []
    ) throws -> SimulatedStack {
        let folder = try TemporaryFolder()
        let file = folder.path + "/stack.json"
        var instances: [String: Value] = [
            "energy": .null, "workouts": .null, "body": .null,
            "debouncer": ["configuration": Self.debouncing(seed)],
            "uploader": ["configuration": ["retryBaseSeconds": 0.2, "retryCapSeconds": 4]],
        ]
        for destination in destinations {
            let name = destination.plugin.name
            instances[name] = [
                "plugin": .string(name),
                "configuration": .object(try destination.configuration(folder: folder.path)),
            ]
        }
        let overlay: Value = ["instances": .object(instances)]
        try overlay.json().write(toFile: file, atomically: true, encoding: .utf8)
        let catalog = try PluginCatalog(folder: Checkout.root + "/plugins", programs: "")
        let stack = try SimulatedStack(
            StackConfiguration(path: file, catalog: catalog), seed: seed, wall: Self.start(), zone: Self.zone,
            files: files ?? self.files, trace: trace, destinations: destinations.map(\.plugin))
        stack.folder = folder
        return stack
    }

    /// Every third seed releases at once, like delivery without a debouncer; the others have windows, and one type has
    /// its own.
    private static func debouncing(_ seed: UInt64) -> Value {
        seed % 3 == 0
            ? ["windowSeconds": 0, "maximumWaitSeconds": 0]
            : [
                "windowSeconds": 1, "maximumWaitSeconds": 5,
                "windows": .object([steps: .integer(seed % 3 == 1 ? 0 : 4)]),
            ]
    }

    /// The steps of each day as a plain sum, by user and date.
    func expectedSteps() throws -> [String: Double] {
        var sums: [String: Double] = [:]
        for (user, records) in records {
            let zones = try ZonePlan(home: Self.zone, added: user == "me" ? travels : []).timeline()
            for record in records where record.type == Self.steps {
                sums["\(user)/\(zones.day(of: record.start))", default: 0] += record.value
            }
        }
        return sums
    }
}
