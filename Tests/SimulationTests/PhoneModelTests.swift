import HealthModel
import Simulation
import TestSupport
import Testing

/// The model's numbers, and how the system uses them.
struct PhoneModelTests {
    private let model = PhoneModel()
    private let usual = SystemMood()

    @Test func everyNumberHasARowInItsOrderWithRangeAndSource() {
        #expect(PhoneModel.table.map(\.number) == PhoneModel.Number.allCases)
        for row in PhoneModel.table {
            #expect(row.low <= row.value && row.value <= row.high && row.low < row.high, "\(row.number)")
            #expect(row.source.count > 8 && !row.meaning.isEmpty && !row.unit.isEmpty, "\(row.number)")
            #expect(model[row.number] == row.value, "\(row.number)")
        }
        // A source can be looked up, or is a reason.
        let sources = [
            "apple.com", "Apple Platform Security", "the field's reports", "WWDC", "docs.rs/", ".com", ".io", ".net",
            "estimate: ", "definition: ",
        ]
        for row in PhoneModel.table {
            #expect(sources.contains { row.source.contains($0) }, "\(row.number): \(row.source)")
            #expect(!row.isEstimate || row.source.count > "estimate: ".count + 8, "\(row.number): no reason")
            // Where reports and others give numbers, it is said which was chosen.
            guard row.source.contains("the field's reports;"), !row.isEstimate else { continue }
            #expect(row.source.contains("chosen"), "\(row.number): \(row.source)")
        }
        #expect(Set(PhoneModel.table.map(\.meaning)).count == PhoneModel.table.count)
        #expect(PhoneModel.table.contains { !$0.isEstimate } && PhoneModel.table.contains(where: \.isEstimate))
    }

    @Test func changingANumberChangesThatNumber() {
        let other = model.with(.pickupsPerDay, 12)
        #expect(other[.pickupsPerDay] == 12 && other != model)
        #expect(other.with(.pickupsPerDay, model[.pickupsPerDay]) == model)
    }

    @Test func aChangeWaitsAMinuteToAnHourInTheBackgroundAndUpToFourHoursTerminated() {
        var random = SimulatedRandom(seed: 1)
        var longest = Duration.zero
        func delay(terminated: Bool, workout: Bool, _ will: Double) -> Duration {
            model.deliveryDelay(afterTermination: terminated, isImmediate: workout, willingness: will, using: &random)
        }
        for _ in 0..<2000 {
            for will in [0.0, 0.5, 1] {
                let gone = delay(terminated: true, workout: false, will)
                #expect((60...3600).contains(delay(terminated: false, workout: false, will).components.seconds))
                #expect((60...600).contains(delay(terminated: true, workout: true, will).components.seconds))
                #expect((60...14_400).contains(gone.components.seconds))
                longest = max(longest, gone)
            }
        }
        #expect(longest > .seconds(3 * 3600))
    }

    /// Each input alone changes the system's willingness in the expected direction.
    @Test func everyInputCounts() {
        func with(_ kind: WakeKind = .delivery, _ change: (inout SystemMood) -> Void) -> Double {
            var mood = usual
            (mood.battery, mood.opensPerDay) = (0.45, 1.5)
            change(&mood)
            return mood.willingness(kind, model)
        }
        let base = with { _ in }
        #expect(base > 0 && base < 1)
        #expect(with { $0.battery = 0.1 } < base)
        #expect(with { $0.isCharging = true } > base)
        #expect(with { $0.load = 0.9 } < base)
        #expect(with { $0.isLowPower = true } < base)
        #expect(with { $0.isFocused = true } < base)
        #expect(with { $0.isOnline = false } < base)
        for kind in WakeKind.allCases {
            #expect(with(kind) { $0.opensPerDay = 0 } < with(kind) { $0.opensPerDay = 1.5 }, "\(kind)")
        }
        for kind in [WakeKind.refresh, .processing, .push] { #expect(with(kind) { $0.isLowPower = true } == 0) }
    }

    /// A day's wakes can't all be spent in the morning.
    @Test func aBudgetRefillsOverTheDayAndSavesUpLittle() {
        let start = Instant(seconds: 1_700_000_000)
        var budget = WakeBudget(perDay: 6, most: 2, at: start)
        var spent = 0
        for minutes in stride(from: 0, to: 24 * 60, by: 5) {
            budget.refill(at: start + .seconds(Int64(minutes * 60)), willingness: 1)
            while budget.spend() { spent += 1 }
            #expect(spent <= 2 + minutes / 240, "after \(minutes) minutes")
        }
        #expect((6...7).contains(spent))
        // A night earns two wakes, but an unwilling system earns none.
        budget.refill(at: start + .seconds(48 * 3600), willingness: 1)
        let afterANight = (0..<3).map { _ in budget.spend() }
        #expect(afterANight == [true, true, false])
        budget.refill(at: start + .seconds(72 * 3600), willingness: 0)
        let isUnwilling = !budget.spend()
        #expect(isUnwilling)
    }
}
