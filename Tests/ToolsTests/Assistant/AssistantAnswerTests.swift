import Assistant
import HealthModel
import ModelContext
import TestSupport
import Testing

/// Tests what the answers to assistants report about themselves.
@Suite struct AssistantAnswerTests {
    private static func state(
        _ date: String, at now: String, final: Bool = false, revision: Int64 = 0, missing: [Value] = []
    ) throws -> DayState {
        let summary: Value = [
            "date": .string(date), "zone": "Europe/Berlin", "final": .bool(final), "revision": .integer(revision),
            "missing": .array(missing), "steps": 5,
        ]
        let (zones, instant) = (try ZoneTimeline(zone: "Europe/Berlin"), try #require(InstantText.parse(now)))
        return try #require(DayState(summary, zones: zones, now: instant))
    }

    @Test func halfADaySaysSo() throws {
        let noon = try Self.state("2025-04-04", at: "2025-04-04T13:30:00+02:00")
        #expect(noon.text == "not over: 13.5 of 24 hours so far" && !noon.isOver)
        #expect(noon.members["final"] == false && noon.members["hoursSoFar"] == 13.5)
        let waiting = try Self.state("2025-04-04", at: "2025-04-04T06:00:00+02:00", missing: ["steps", "sleep"])
        #expect(waiting.text == "not over: 6 of 24 hours so far, waits for steps, sleep")
        let tomorrow = try Self.state("2025-04-05", at: "2025-04-04T13:30:00+02:00")
        #expect(tomorrow.hoursSoFar == 0 && !tomorrow.isOver)
    }

    @Test func aDayIsOverAtItsEndAndNotBefore() throws {
        let almost = try Self.state("2025-04-04", at: "2025-04-04T23:59:45+02:00")
        #expect(!almost.isOver && almost.text == "not over: 23.99 of 24 hours so far")
        #expect(try Self.state("2025-04-04", at: "2025-04-04T04:36:00+02:00").hoursSoFar == 4.6)
    }

    /// A flight over the date line brings back 3 h 40 min of a day, whose length has more than two digits.
    @Test func aDayOfTwoPiecesEndsToo() throws {
        let landed = try #require(InstantText.parse("2025-06-02T15:20:00+09:00"))
        let end = try #require(InstantText.parse("2025-06-02T00:00:00-10:00"))
        let zones = try ZoneTimeline([
            .init(from: .distantPast, zone: "Asia/Tokyo"), .init(from: landed, zone: "Pacific/Honolulu"),
        ])
        func day(at now: Instant) -> DayState {
            DayState(
                LocalDay(year: 2025, month: 6, day: 1), zone: "Asia/Tokyo", isFinal: false, revision: 0, waitsFor: [],
                zones: zones, now: now)
        }
        #expect(day(at: end).isOver && day(at: end).hoursSoFar == 27.66)
        #expect(day(at: landed).text == "not over: 24 of 27.66 hours so far")
    }

    @Test func aDayThatIsOverMayNotBeFinal() throws {
        let over = try Self.state("2025-04-04", at: "2025-04-05T00:00:00+02:00")
        #expect(over.text == "over, but not final: more may come" && over.isOver)
        let final = try Self.state("2025-04-04", at: "2025-06-01T00:00:00Z", final: true, revision: 1)
        #expect(final.text == "final" && final.members["hoursSoFar"] == 24.0)
        let corrected = try Self.state("2025-04-04", at: "2025-06-01T00:00:00Z", final: true, revision: 3)
        #expect(corrected.text == "final, corrected 2 times since it first was")
    }

    @Test func aDayWithoutDataExpectsNoMore() throws {
        let summary: Value = ["date": "1999-01-01", "zone": "Europe/Berlin", "final": false]
        let now = try #require(InstantText.parse("2025-06-01T00:00:00Z"))
        let day = try #require(DayState(summary, zones: ZoneTimeline(zone: "Europe/Berlin"), now: now))
        #expect(day.text == "over, and there is no data for it" && !day.hasData)
        let once = try Self.state("2025-04-04", at: "2025-06-01T00:00:00Z", final: true, revision: 2)
        #expect(once.text == "final, corrected once since it first was" && once.hasData)
    }

    /// The last day of an export.
    @Test func theDayInWhichTheDataEndsIsNoWholeDay() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        func note(_ newest: String, at now: String = "2025-06-01T00:00:00Z") throws -> String? {
            let states = try ["2025-04-03", "2025-04-04"].map {
                try Self.state($0, at: now, final: now.hasPrefix("2025-06"))
            }
            return DataEnd(try #require(InstantText.parse(newest)), zones).note(among: states)
        }
        #expect(try note("2025-04-04T00:08:00+02:00")?.contains("2025-04-04 at 00:08") == true)
        #expect(try note("2025-04-04T23:10:00+02:00") == nil && note("2025-04-05T00:08:00+02:00") == nil)
        // If the day isn't over, the answer says so without this note.
        #expect(try note("2025-04-04T12:00:00+02:00", at: "2025-04-04T13:00:00+02:00") == nil)
    }

    @Test func timesAreThoseOfTheLocalClock() throws {
        let reported: Value = [
            "visits": [["start": "2025-03-30T06:15:00Z", "place": "Tea T Zoo"]], "value": 5, "zone": "Europe/Berlin",
            "metadata": ["made": "2025-03-30T06:15:00Z"], "end": "2025-03-30T08:15:00+02:00",
        ]
        let shown = LocalTimes.convert(reported, try ZoneTimeline(zone: "Europe/Berlin"))
        #expect(shown["visits"].array?.first?["start"] == "2025-03-30T08:15:00+02:00")
        #expect(shown["visits"].array?.first?["place"] == "Tea T Zoo" && shown["metadata"] == reported["metadata"])
        #expect(shown["end"] == reported["end"] && shown["value"] == 5)
    }

    @Test func aDayIsAsLongAsTheClockMadeIt() throws {
        #expect(try Self.state("2025-03-30", at: "2025-06-01T00:00:00Z").hours == 23)
        #expect(try Self.state("2025-10-26", at: "2025-11-01T00:00:00Z").hours == 25)
        // When it is 2:30 for the second time, three and a half hours have passed.
        #expect(try Self.state("2025-10-26", at: "2025-10-26T02:30:00+01:00").hoursSoFar == 3.5)
    }

    @Test func rowsAreLimitedInNumberAndSize() {
        let rows = (0..<10).map { Value.string("row \($0)") }
        func check(_ found: (shown: [Value], left: Int), _ wanted: some Sequence<Value>, _ left: Int) {
            #expect(found.shown == Array(wanted) && found.left == left)
        }
        check(AnswerLimits(rows: 3).first(rows), rows.prefix(3), 7)
        check(AnswerLimits(rows: 3).last(rows), rows.suffix(3), 7)
        check(AnswerLimits(rows: 10).last(rows), rows, 0)
        // "row 0", including its quotes and a comma, is eight bytes long.
        check(AnswerLimits(rows: 10, bytes: 24).last(rows), rows.suffix(3), 7)
        check(AnswerLimits(rows: 10, bytes: 23).last(rows), rows.suffix(2), 8)
        // A single row is never left out, because otherwise no request could ever return it.
        check(AnswerLimits(rows: 10, bytes: 1).last(rows), rows.suffix(1), 9)
        check(AnswerLimits(rows: 10).last([]), [], 0)
    }

    @Test func listsAreCutAtAnyDepth() {
        let tree: Value = ["a": [1, 2, 3], "b": ["c": [[1, 2, 3], [4]], "d": "x"], "e": []]
        var left: [String: Value] = [:]
        let cut = AnswerLimits.cut(tree, to: 2, left: &left)
        #expect(cut == ["a": [1, 2], "b": ["c": [[1, 2], [4]], "d": "x"], "e": []])
        #expect(left == ["a": 1, "b.c": 1])
        left = [:]
        #expect(AnswerLimits.cut(tree, to: 3, left: &left) == tree && left.isEmpty)
    }

    /// The result is compared with a day-by-day count.
    @Test(arguments: 0..<100) func gapsAreTheDaysThatAreNotThere(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let first = Int.random(in: -5...5, using: &random)
        let span = first...(first + Int.random(in: 0...20, using: &random))
        let dates = (-10...30).filter { _ in Bool.random(using: &random) }
        let gaps = MissingDays.gaps(in: span, except: dates)
        #expect(gaps.flatMap { Array($0) } == span.filter { !dates.contains($0) })
        // Each span is as long as possible.
        #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
        #expect(MissingDays.value(gaps)["days"].int == Int64(span.count { !dates.contains($0) }))
    }

    @Test func aFigureOverDaysHasOnlyDaysThatHaveIt() {
        let some = FigureOverDays(numbers: [4, 1, 2])
        #expect(some.mean == 7.0 / 3 && some.median == 2 && some.value["min"] == 1.0 && some.value["max"] == 4.0)
        #expect(FigureOverDays(numbers: [4, 1, 2, 3]).median == 2.5)
        let none = FigureOverDays(numbers: [])
        #expect(none.mean == nil && none.median == nil && none.value["mean"].isNull && none.value["days"] == 0)
        #expect(FigureOverDays.difference(some, none).isNull)
        let zero = FigureOverDays(numbers: [0])
        #expect(FigureOverDays.difference(zero, some)["ratioOfMeans"].isNull)
        #expect(FigureOverDays.difference(some, FigureOverDays(numbers: [14.0 / 3]))["ratioOfMeans"] == 2.0)
    }

    @Test func eachToolSaysWhatItTakesAndAnswers() {
        let tools = AssistantTools.descriptions
        #expect(tools.count == 9 && Set(tools.map(\.name)).count == 9)
        for tool in tools {
            #expect(tool.name.wholeMatch(of: #/[a-z_]{1,64}/#) != nil && tool.description.count > 50)
            #expect(tool.accepts["type"] == "object" && tool.answers["type"] == "object")
            let required = (tool.answers["required"].array ?? []).compactMap(\.string)
            #expect(Set(required).isSuperset(of: ["zone", "today", "stack", "notes", "leftOut"]), "\(tool.name)")
            #expect(Set(required) == Set(tool.answers["properties"].object?.keys.map { $0 } ?? []), "\(tool.name)")
        }
    }
}
