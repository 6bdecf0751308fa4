import Figures
import HealthModel
import Inspection
import Testing

@Suite struct FigureSeriesTests {
    private func day(_ text: String) throws -> LocalDay { try #require(LocalDay(text)) }

    private func value(_ series: FigureSeries, _ columns: [Int], _ range: DateRange = DateRange()) throws -> Value {
        var series = series
        return try Value(json: series.json(columns, range))
    }

    @Test func daysComeInOrderHoweverTheyCame() throws {
        var series = FigureSeries([["steps"], ["sleep", "asleepMinutes"]])
        for (date, steps) in [("2025-03-30", 3), ("2025-03-01", 1), ("2025-03-15", 2)] {
            series.take(
                try day(date),
                ["steps": .integer(Int64(steps)), "sleep": ["asleepMinutes": 400.5], "final": .bool(steps < 3)])
        }
        #expect(
            try value(series, [1, 0]) == [
                "dates": ["2025-03-01", "2025-03-15", "2025-03-30"],
                "values": ["steps": [1, 2, 3], "sleep.asleepMinutes": [400.5, 400.5, 400.5]],
                "final": [true, true, false],
            ])
        let (first, middle, last) = (try day("2025-03-01"), try day("2025-03-15"), try day("2025-03-30"))
        #expect(try value(series, [0], DateRange(from: first.adding(days: 1), to: middle))["dates"] == ["2025-03-15"])
        #expect(series.first == first && series.last == last)
        let around = (series.neighbours(of: middle), series.neighbours(of: last.adding(days: -1)))
        #expect(around.0.previous == first && around.0.next == last && around.1.next == last)
        let lastTwo = series.lastDays(2)
        #expect(lastTwo == DateRange(from: middle, to: last))
    }

    @Test func aChangedDayReplacesAndADeletedOneGoes() throws {
        var series = FigureSeries([["steps"]])
        series.take(try day("2025-03-01"), ["steps": 1])
        series.take(try day("2025-03-02"), ["steps": 2])
        series.take(try day("2025-03-01"), ["steps": .null])
        #expect(try value(series, [0])["values"]["steps"] == [.null, 2])
        series.take(try day("2025-03-02"), nil)
        series.take(try day("2025-03-09"), nil)
        #expect(try value(series, [0])["dates"] == ["2025-03-01"])
        #expect(series.count == 1)
        // The deleted day's row is reused.
        series.take(try day("2025-03-03"), ["steps": 7])
        #expect(try value(series, [0])["values"]["steps"] == [.null, 7])
    }

    /// A column ends with its last number, but the page still shows an entry for every day.
    @Test func aFigureThatIsSeldomThereIsNullOnAllOtherDays() throws {
        var series = FigureSeries([["steps"], ["bodyMassKilograms"]])
        for date in 1...9 {
            series.take(
                try day("2025-03-0\(date)"),
                ["steps": .integer(Int64(date)), "bodyMassKilograms": date == 3 ? 70.5 : .null])
        }
        let kilograms = try value(series, [0, 1])["values"]["bodyMassKilograms"].array
        #expect(kilograms == [.null, .null, 70.5, .null, .null, .null, .null, .null, .null])
        series.take(try day("2025-03-03"), ["bodyMassKilograms": .null])
        series.take(try day("2025-03-08"), ["bodyMassKilograms": 71])
        #expect(try value(series, [1])["values"]["bodyMassKilograms"].array?.compactMap(\.double) == [71])
    }

    @Test func withoutDaysThereAreEmptyColumns() throws {
        var series = FigureSeries([["steps"]])
        #expect(try value(series, [0]) == ["dates": [], "values": ["steps": []], "final": []])
        let last = series.lastDays(7)
        #expect(last == nil && series.first == nil)
    }
}
