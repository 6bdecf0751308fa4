import HealthModel
import HealthStatistics
import TestSupport
import Testing

/// Sums that apps made over many hours, beside finer samples of the same time.
@Suite struct LongSumTests {
    private static let hour = 3600 * Instant.microsecondsPerSecond
    private static let day = 0..<24 * hour
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let watch = "Watch"

    private static func merge(
        _ builder: PageBuilder, of type: String = steps, order: [String] = [], day: [Range<Int64>] = [day]
    ) -> CumulativeMerge {
        let page = builder.page()
        return CumulativeMerge(page, rows: page.rows(of: type), order: SourceOrder(order), in: day.instants)
    }

    private static func total(_ builder: PageBuilder, of type: String = steps, order: [String] = []) -> Double? {
        merge(builder, of: type, order: order).total(in: [day])
    }

    /// A watch's 4,000 steps from 9 to 10, in minutes.
    private static func walk(of type: String = steps) -> PageBuilder {
        var builder = PageBuilder()
        for minute in 0..<60 as Range<Int64> {
            let start = 9 * hour + minute * hour / 60
            builder.add(type, start, start + hour / 60, 4000 / 60, source: watch)
        }
        return builder
    }

    @Test(arguments: [(4000.0, 4000.0), (3000, 4000), (9000, 9000), (27_612, 27_612)])
    func onlyWhatADaysSumHasBeyondFinerSamplesCounts(_ sum: Double, _ expected: Double) throws {
        for (start, end) in [(0, 24 * Self.hour), (0, 24 * Self.hour - 1), (12 * Self.hour, 12 * Self.hour)] {
            var builder = Self.walk()
            builder.add(Self.steps, start, end, sum, source: "Band")
            let total = try #require(Self.total(builder))
            #expect(abs(total - expected) < 1e-9)
        }
    }

    @Test func whatIsBeyondIsSpreadEvenly() {
        var builder = PageBuilder()
        builder.add(Self.steps, 9 * Self.hour, 10 * Self.hour, 4000, source: Self.watch)
        builder.add(Self.steps, 12 * Self.hour, 12 * Self.hour, 6400, source: "Ring")
        let merge = Self.merge(builder)
        let hours = (0..<24 as Range<Int64>).map { $0 * Self.hour..<($0 + 1) * Self.hour }
        #expect(merge.sums(in: hours) == (0..<24).map { $0 == 9 ? 4100 : 100 })
        #expect(
            merge.intervals(in: [Self.day]) == [
                MergeInterval(start: 0, end: 24 * Self.hour, counted: "Ring (sum)", covered: [], amount: 2400),
                MergeInterval(
                    start: 9 * Self.hour, end: 10 * Self.hour, counted: Self.watch, covered: [], amount: 4000),
            ])
        #expect(merge.shares(in: [Self.day]).map(\.source) == [Self.watch, "Ring (sum)"])
        #expect(merge.count(in: [Self.day]) == 2)
    }

    /// A sum that adds nothing has no hours either.
    @Test func aSumThatAddsNothingCountsNowhere() {
        var builder = PageBuilder()
        builder.add(Self.steps, 9 * Self.hour, 10 * Self.hour, 4000, source: Self.watch)
        builder.add(Self.steps, 0, 24 * Self.hour, 4000, source: "Band")
        let merge = Self.merge(builder)
        #expect(merge.total(in: [Self.day]) == 4000)
        #expect(merge.sums(in: [0..<Self.hour, 9 * Self.hour..<10 * Self.hour]) == [nil, 4000])
        #expect(merge.shares(in: [Self.day]).map(\.amount) == [4000, 0])
    }

    @Test func alonePastTheLimitASumIsTheFigure() {
        var builder = PageBuilder()
        builder.add(Self.steps, 0, 24 * Self.hour, 0, source: "Band")
        #expect(Self.total(builder) == 0)
        builder.add(Self.steps, 0, 24 * Self.hour, 500, source: "Band")
        #expect(Self.total(builder) == 500)
    }

    /// The greater counts, whatever their names and however their days end.
    @Test func sumsOfSeveralAppsDoNotAdd() throws {
        for names in [["Band", "Ring"], ["Ring", "Band"]] {
            for ends in [24 * Self.hour, 24 * Self.hour - Instant.microsecondsPerSecond] {
                var builder = Self.walk()
                builder.add(Self.steps, 0, ends, 8000, source: names[0])
                builder.add(Self.steps, 12 * Self.hour, 12 * Self.hour, 9000, source: names[1])
                #expect(abs(try #require(Self.total(builder)) - 9000) < 1e-9)
                builder.add(Self.steps, 12 * Self.hour, 13 * Self.hour, 0, source: "iPhone")
                #expect(abs(try #require(Self.total(builder)) - 9000) < 1e-9)
            }
        }
    }

    /// Minutes and a day's total of one source, and totals from midnight that the app wrote again and again.
    @Test func aSourcesOwnSumsContainItsSamples() throws {
        var builder = PageBuilder()
        for hour in 0..<20 as Range<Int64> { builder.add(Self.steps, hour * Self.hour, (hour + 1) * Self.hour, 100) }
        builder.add(Self.steps, 0, 24 * Self.hour, 2500)
        #expect(Self.total(builder) == 2500)
        for hour in 4...20 as ClosedRange<Int64> { builder.add(Self.steps, 0, hour * Self.hour, Double(100 * hour)) }
        #expect(Self.total(builder) == 2500)
    }

    @Test func whoeverIsPutInOrderCountsFirst() throws {
        var builder = Self.walk()
        builder.add(Self.steps, 12 * Self.hour, 13 * Self.hour, 700, source: "iPhone")
        builder.add(Self.steps, 12 * Self.hour, 12 * Self.hour, 3500, source: "Ring")
        builder.add(Self.steps, 0, 12 * Self.hour, 9000, source: "Band")
        // The ring's word is taken for the whole day.
        #expect(Self.total(builder, order: ["Ring"]) == 3500)
        // The watch keeps its 4,000, and the ring has nothing beyond.
        #expect(abs(try #require(Self.total(builder, order: [Self.watch, "Ring"])) - 4000) < 1e-9)
        #expect(Self.total(builder, order: ["Ring", "Band"]) == 3500)
        #expect(Self.total(builder, order: ["Band", "Ring"]) == 10_750)
        let merge = Self.merge(builder, order: ["Ring"])
        #expect(
            merge.intervals(in: [Self.day]) == [
                MergeInterval(
                    start: 0, end: 24 * Self.hour, counted: "Ring (sum)", covered: ["Watch", "iPhone"], amount: 3500)
            ])
    }

    @Test func whatAPersonEnteredCountsInFull() throws {
        for flags in [SampleFlags.userEntered, .manual] {
            var builder = Self.walk()
            builder.add(Self.steps, 18 * Self.hour, 18 * Self.hour, 2000, source: "Health", flags: flags)
            #expect(abs(try #require(Self.total(builder)) - 6000) < 1e-9)
            builder.add(Self.steps, 0, 24 * Self.hour, 5000, source: "Band")
            #expect(abs(try #require(Self.total(builder)) - 6000) < 1e-9)
        }
        var builder = Self.walk()
        builder.add(Self.steps, 0, 24 * Self.hour, 3000, source: "Health", flags: .userEntered)
        #expect(Self.total(builder) == 3000)
    }

    /// What is drunk or taken happens at moments; a basal dose takes hours.
    @Test func instantsOfWhatIsTakenAllCount() {
        let quantity = "HKQuantityTypeIdentifier"
        for type in [
            "DietaryWater", "DietaryCaffeine", "InsulinDelivery", "InhalerUsage", "NumberOfAlcoholicBeverages",
        ] {
            var builder = PageBuilder()
            builder.add(quantity + type, 9 * Self.hour, 9 * Self.hour, 300, source: "Bottle")
            builder.add(quantity + type, 10 * Self.hour, 11 * Self.hour, 900, source: "Diary")
            #expect(Self.total(builder, of: quantity + type) == 1200)
        }
        var builder = PageBuilder()
        builder.add(quantity + "InsulinDelivery", 0, 24 * Self.hour, 20, source: "Pump")
        builder.add(quantity + "InsulinDelivery", 9 * Self.hour, 9 * Self.hour, 5, source: "Pump")
        #expect(Self.total(builder, of: quantity + "InsulinDelivery") == 25)
        builder = PageBuilder()
        builder.add(quantity + "DietaryWater", 0, 24 * Self.hour, 2000, source: "Diary")
        builder.add(quantity + "DietaryWater", 9 * Self.hour, 9 * Self.hour, 300, source: "Bottle")
        #expect(Self.total(builder, of: quantity + "DietaryWater") == 2000)
    }

    @Test func aPhonesFlightIsAnInstant() {
        let flights = "HKQuantityTypeIdentifierFlightsClimbed"
        for (source, expected) in [("iPhone", 4.0), ("Band", 3)] {
            var builder = PageBuilder()
            builder.add(flights, 9 * Self.hour, 10 * Self.hour, 3, source: Self.watch)
            builder.add(flights, 18 * Self.hour, 18 * Self.hour, 1, source: source)
            #expect(Self.total(builder, of: flights) == expected)
        }
    }

    @Test func onlyASingleInstantIsASum() throws {
        var builder = Self.walk()
        for hour in [11, 12] as [Int64] {
            builder.add(Self.steps, hour * Self.hour, hour * Self.hour, 500, source: "Pedometer")
        }
        #expect(abs(try #require(Self.total(builder)) - 5000) < 1e-9)
    }

    /// Four hours and more, to the microsecond.
    @Test func theLimit() {
        for (length, expected) in [(4 * Self.hour, 4000.0), (4 * Self.hour - 1, 4000 + 3000)] {
            var builder = PageBuilder()
            builder.add(Self.steps, 9 * Self.hour, 9 * Self.hour + length, 4000, source: "Band")
            builder.add(Self.steps, 9 * Self.hour, 10 * Self.hour, 4000, source: Self.watch)
            let total = Self.total(builder) ?? 0
            #expect(abs(total - expected) < 0.001)
        }
    }

    /// Each day gets its share, which is compared with that day's samples only.
    @Test func aSumAcrossMidnightIsDivided() {
        var builder = PageBuilder()
        builder.add(Self.steps, 9 * Self.hour, 10 * Self.hour, 4000, source: Self.watch)
        builder.add(Self.steps, -2 * Self.hour, 22 * Self.hour, 6000, source: "Band")
        #expect(Self.total(builder) == 5500)
        let before = -24 * Self.hour..<0
        #expect(Self.merge(builder, day: [before]).total(in: [before]) == 500)
    }

    /// A day that a flight divides: a single instant stands for both pieces.
    @Test func aDayInTwoPieces() {
        var builder = PageBuilder()
        builder.add(Self.steps, 2 * Self.hour, 3 * Self.hour, 4000, source: Self.watch)
        builder.add(Self.steps, 31 * Self.hour, 31 * Self.hour, 6000, source: "Ring")
        let day = [0..<10 * Self.hour, 30 * Self.hour..<40 * Self.hour]
        let merge = Self.merge(builder, day: day)
        #expect(merge.total(in: day) == 6000)
        #expect(merge.sums(in: day) == [5000, 1000])
        #expect(merge.sums(in: [12 * Self.hour..<13 * Self.hour]) == [nil])
        #expect(merge.intervals(in: day).filter { $0.counted == "Ring (sum)" }.map(\.amount) == [1000, 1000])
    }

    /// The greatest sum of the day or the finer samples, whichever is more: to the last bit the samples alone if they
    /// are.
    @Test func theTotalIsTheGreatest() throws {
        for seed in 0..<1000 as Range<UInt64> where seed % 3 != 0 && seed % 2 == 0 {
            var samples = RandomSamples(seed: seed)
            samples.builder.rows.removeAll { $0.end - $0.start >= 4 * Self.hour || $0.start == $0.end }
            let day = RandomSamples.instants([samples.window])
            let alone = samples.merge().total(in: day)
            let sums = (0..<Int.random(in: 1...70, using: &samples.random)).map { _ in
                Double.random(in: 0...1500, using: &samples.random)
            }
            for (number, sum) in sums.enumerated() {
                samples.builder.add(
                    Self.steps, day[0].lowerBound, day[0].upperBound, sum, source: "Band \(number % 5)")
            }
            let greatest = sums.max() ?? 0
            let total = try #require(samples.merge().total(in: day))
            if let alone, alone >= greatest {
                #expect(total == alone, "seed \(seed)")
            } else {
                #expect(abs(total - greatest) < 1e-9 * greatest, "seed \(seed)")
            }
        }
    }

    /// 20,000 samples and 20,000 sums that all overlap; this fails only if the cost is quadratic.
    @Test(.timeLimit(.minutes(10))) func manySumsAreNoTrap() {
        var builder = PageBuilder()
        let second = Instant.microsecondsPerSecond
        for index in 0..<20_000 as Range<Int64> {
            builder.add(Self.steps, index * second, (index + 10_000) * second, 1, source: Self.watch)
            builder.add(
                Self.steps, index * second, (index + 40_000) * second, Double(index), source: "Band \(index % 7)")
        }
        let total = Self.total(builder) ?? 0
        #expect(total >= 20_000 && total < 60_000)
    }
}
