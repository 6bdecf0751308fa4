import Configuration
import HealthModel
import Simulation
import Testing

/// What follows from one of the model's numbers, as measured in a simulated life or on the simulated phone.
struct PhoneExpectation: Sendable {
    var number: PhoneModel.Number
    /// What is measured, for the message of a test that fails.
    var what: String
    /// What the number's source says. Where there is only an estimate: more than its half and less than its double.
    var range: ClosedRange<Double>
    var measure: @Sendable (PhoneModel) throws -> Double

    init(
        _ number: PhoneModel.Number, _ what: String, _ range: ClosedRange<Double>,
        _ measure: @escaping @Sendable (PhoneModel) throws -> Double
    ) {
        (self.number, self.what, self.range, self.measure) = (number, what, range, measure)
    }

    static let all = person + watch + device + deliveries + otherWakes + willingness + runs
}

/// Every number of the model matters: with half or double the value, the simulated phone does what no source says.
@Suite struct PhoneNumberTests {
    @Test func everyNumberHasAnExpectation() {
        #expect(PhoneExpectation.all.map(\.number) == PhoneModel.Number.allCases)
    }

    @Test(arguments: PhoneModel.Number.allCases)
    func halfAndDoubleOfANumberAreNoticed(number: PhoneModel.Number) throws {
        let expected = try #require(PhoneExpectation.all.first { $0.number == number })
        let model = PhoneModel()
        let usual = try expected.measure(model)
        #expect(expected.range.contains(usual), "\(number): \(expected.what): \(usual)")
        for factor in [0.5, 2] {
            let other = try expected.measure(model.with(number, model[number] * factor))
            #expect(!expected.range.contains(other), "\(number) times \(factor): \(expected.what): \(other)")
        }
    }

    /// Apple says two or three; a phone that would take all of them is woken by two, in each hour in which it is used.
    @Test func twoPushesAnHour() throws {
        let phone = PhoneModel().favourable(
            PhoneExpectation.promptPush.merging([.pushesPerHour: PhoneModel()[.pushesPerHour]]) { $1 })
        let wakes = try phone.result(.silentPush, use: .daily).wakesByHour
        #expect(wakes.allSatisfy { $0 <= 2 } && wakes[8..<20].allSatisfy { $0 > 1.8 }, "\(wakes)")
    }

    /// A run that doesn't end by itself is cut off.
    @Test(arguments: [
        (PhoneModel.Number.deliverySeconds, 15.0), (.refreshSeconds, 30), (.pushSeconds, 30), (.processingSeconds, 600),
    ])
    func runsAreEndedAfterTheirTime(number: PhoneModel.Number, seconds: Double) throws {
        let expected = try #require(PhoneExpectation.all.first { $0.number == number })
        let measured = try expected.measure(PhoneModel())
        #expect(abs(measured - seconds) < seconds * 0.05, "\(measured)")
    }
}

extension PhoneModel {
    /// The same model with other numbers for everything that a measurement isn't about.
    func with(_ numbers: [Number: Double]) -> PhoneModel {
        numbers.reduce(self) { $0.with($1.key, $1.value) }
    }

    /// A day's events, with the hours since the day began.
    func days(
        _ days: Int, use: AppUse = .daily, density: Double = 0
    ) throws -> [[(hour: Double, event: PhoneEvent)]] {
        var options = PhoneLife.Options(seed: 1, days: days, use: use, model: self)
        options.density = density
        let life = try PhoneLife(options)
        return (0..<days).map { day in
            let start = life.start(of: day)
            return life.events(of: day).map { (($0.at - start).seconds / 3600, $0.event) }
        }
    }

    /// The result of a strategy on this phone. The app is ideal, so only the phone counts.
    func result(
        _ strategy: DeliveryStrategy, days: Int = 10, use: AppUse = .never
    ) throws -> StrategyResult {
        var life = PhoneLife.Options(seed: 1, days: days, use: use, model: self)
        life.density = 0.1
        return try Simulator(shippedStack(), life: life, app: .ideal).measured(strategy)
    }

    /// A phone and a person that hold nothing back: the system is always willing, the phone in use nearly around the
    /// clock, samples arrive all the time, and nothing ends the app.
    func favourable(_ numbers: [Number: Double] = [:]) -> PhoneModel {
        with([
            .unusedShare: 1, .lowBatteryShare: 1, .lowPowerAccepted: 0, .focusShare: 1, .loadShare: 1, .offlineShare: 1,
            .chargingShare: 1, .terminationsPerDay: 0, .rebootsPerDay: 0, .flightsPerDay: 0, .networkGapsPerDay: 0,
            .forceQuitAfterUse: 0, .quietSpellsPerDay: 0, .pickupsPerDay: 300, .wakesUpAtHour: 1,
            .fallsAsleepAtHour: 23,
            .workoutsPerDay: 0, .watchDayMinutes: 1, .watchNightMinutes: 1, .watchApartDays: 0, .heartRateMinutes: 0.5,
            .openSeconds: 5,
        ]).with(numbers)
    }
}

extension Collection where Element == Double {
    /// 0 if there are none.
    var mean: Double { isEmpty ? 0 : reduce(0, +) / Double(count) }
}
