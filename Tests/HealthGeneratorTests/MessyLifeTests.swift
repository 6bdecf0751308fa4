import Foundation
import HealthGenerator
import HealthModel
import TestSupport
import Testing

/// Each mess that `docs/operating.md` lists is there.
@Suite struct MessyLifeTests {
    /// Two exports of one life: in spring, and in the quarter after.
    private static let early = Result { try GeneratedLife(options(LocalDay(year: 2025, month: 3, day: 30), days: 150)) }
    private static let late = Result { try GeneratedLife(options(LocalDay(year: 2025, month: 5, day: 20), days: 201)) }

    private static func options(_ end: LocalDay, days: Int) -> ExportGenerator.Options {
        .init(days: days, seed: 5, end: end, isMessy: true)
    }

    private struct Found {
        let life: GeneratedLife

        func rows(_ type: String, _ source: String) -> [GeneratedLife.Row] {
            life.rows.filter { row in
                life.types[Int(row.type)].hasSuffix("Identifier" + type)
                    && life.origins[Int(row.origin)].sourceName.contains(source)
            }
        }

        func sources(_ type: String) -> Set<String> {
            Set(
                life.rows.filter { life.types[Int($0.type)].hasSuffix("Identifier" + type) }
                    .map { life.origins[Int($0.origin)].sourceName })
        }

        func length(_ row: GeneratedLife.Row) -> Double { Double(row.end - row.start) / 1_000_000 }
    }

    @Test func oneSeedGivesTheSameMess() throws {
        let folder = try TemporaryFolder()
        let files = try [1, 1, 2].enumerated().map { number, seed in
            let path = folder.path + "/\(number).zip"
            try ExportGenerator(.init(days: 20, seed: UInt64(seed), isMessy: true)).write(to: path)
            return try Data(contentsOf: URL(filePath: path))
        }
        #expect(files[0] == files[1] && files[1] != files[2])
        #expect(throws: GeneratorError.self) {
            try ExportGenerator(.init(days: 20, seed: 1, records: 500, isMessy: true))
        }
    }

    @Test func otherAppsSumUpDaysLateAndTwice() throws {
        let found = Found(life: try Self.early.get())
        let sums = found.rows("StepCount", "Stride Band")
        // A day of travel is shorter or longer.
        #expect(sums.count { (23...25).contains(found.length($0) / 3600) } > 130)
        #expect(sums.count { Double($0.created) - Double($0.end) / 1_000_000 > 86_400 } > 20)
        let repeats = zip(sums, sums.dropFirst()).count {
            ($0.start, $0.end, $0.value) == ($1.start, $1.end, $1.value) && $0.created != $1.created
        }
        #expect(repeats > 10)
        #expect(found.rows("ActiveEnergyBurned", "Stride Band").count == sums.count)
        let noons = found.rows("StepCount", "Halo Ring")
        #expect(noons.count > 130 && noons.allSatisfy { found.length($0) == 0 && $0.value > 300 })
        // What is stored after the export isn't in it.
        let exported = try #require(found.life.zones.ranges(of: LocalDay(year: 2025, month: 3, day: 31)).first)
        #expect(found.life.rows.allSatisfy { $0.created < exported.upperBound.flooredSecond })
        #expect(Set(sums.map(\.start)).count < 150)
    }

    @Test func otherSourcesOverlap() throws {
        let found = Found(life: try Self.early.get())
        #expect(found.sources("DistanceWalkingRunning").count == 4)
        let rates = found.rows("HeartRate", "Chest Strap")
        #expect(rates.contains { found.length($0) == 1 && $0.value == 171 })
        #expect(rates.count { found.length($0) == 60 } > 500)
    }

    @Test func theWatchDiesInSomeNights() throws {
        let found = Found(life: try Self.early.get())
        let nights = found.rows("SleepAnalysis", "Night Diary")
        let stages = found.rows("SleepAnalysis", "Watch")
        #expect(nights.count > 140)
        let cut = nights.count { night in
            let own = stages.filter { $0.start < night.end && $0.end > night.start }
            guard let last = own.map(\.end).max() else { return false }
            return last + 4 * 3_600_000_000 < night.end
        }
        #expect((3...40).contains(cut), "\(cut)")
        // Nor is there a heart rate for the rest of the night.
        let rates = found.rows("HeartRate", "Watch")
        let silent = zip(rates, rates.dropFirst()).count { $1.start - $0.start > 4 * 3_600_000_000 }
        #expect(silent >= cut && silent < 45, "\(silent) of \(cut)")
    }

    @Test func categoriesCrossMidnightAndPeopleTravel() throws {
        let found = Found(life: try Self.early.get())
        let symptoms = found.rows("Headache", "Health")
        #expect(symptoms.count > 5)
        let zones = Set(
            found.rows("SleepAnalysis", "Watch").compactMap { row in
                (try? Value(json: Array(row.metadata.utf8)))?["HKTimeZone"].string
            })
        #expect(zones.count >= 2 && zones.contains("Europe/Berlin"), "\(zones)")
        let atHome = symptoms.count { row in
            found.life.zones.day(of: Instant(microseconds: row.start))
                != found.life.zones.day(of: Instant(microseconds: row.end))
        }
        #expect(atHome > 3)
    }

    @Test func twoAppsWriteWorkoutsAndSomeThingsAreUnknown() throws {
        let found = Found(life: try Self.early.get())
        let workouts = found.life.rows.filter { found.life.types[Int($0.type)] == "HKWorkoutTypeIdentifier" }
        let bySource = Dictionary(grouping: workouts) { found.life.origins[Int($0.origin)].sourceName }
        let watch = bySource.filter { $0.key.contains("Watch") }.flatMap(\.value)
        let app = bySource["Run Diary"] ?? []
        #expect(watch.count > 40 && app.count > 20)
        let starts = Set(watch.map(\.start))
        #expect(app.count { starts.contains($0.start - 2_000_000) } > 20)
        #expect(app.count > Set(app.map(\.start)).count)
        #expect(workouts.contains { $0.payload.contains("LanternBoating") })
        #expect(found.rows("GripEndurance", "Run Diary").count > 20)
        #expect(found.rows("WeatherSense", "Night Diary").count > 20)
    }

    /// What a later export has in fewer records spans the same time and has the same sum as those that it stands for.
    @Test(arguments: ["StepCount", "DistanceWalkingRunning", "ActiveEnergyBurned", "BasalEnergyBurned"])
    func oldRecordsAreCondensed(_ type: String) throws {
        let (before, after) = (Found(life: try Self.early.get()), Found(life: try Self.late.get()))
        let limit = try #require(InstantText.parse("2025-03-19T00:00:00Z")).microseconds
        let from = try #require(InstantText.parse("2025-03-01T00:00:00Z")).microseconds
        func old(_ found: Found) -> [GeneratedLife.Row] {
            found.rows(type, "Watch").filter { $0.start >= from && $0.end < limit }
        }
        let (parts, wholes) = (old(before), old(after))
        #expect(parts.count > wholes.count && wholes.count > 60, "\(parts.count) \(wholes.count)")
        var condensed = 0
        for whole in wholes {
            let own = parts.filter { $0.start >= whole.start && $0.end <= whole.end }
            #expect(own.first?.start == whole.start && own.last?.end == whole.end)
            #expect(zip(own, own.dropFirst()).allSatisfy { $0.end == $1.start })
            #expect(abs(own.reduce(0) { $0 + $1.value } - whole.value) <= max(1e-4 * whole.value, 1e-6))
            if own.count > 1 { condensed += 1 }
        }
        #expect(condensed > 20)
    }

    @Test func devicesAreRenamed() throws {
        let names = try [Self.early, Self.late].map { Found(life: try $0.get()).sources("StepCount") }
        #expect(names[0].contains("Robin’s iPhone") != names[1].contains("Robin’s iPhone"))
        #expect(names[0].contains("Sam’s iPhone") != names[1].contains("Sam’s iPhone"))
        #expect(names.allSatisfy { $0.count == 4 })
    }
}
