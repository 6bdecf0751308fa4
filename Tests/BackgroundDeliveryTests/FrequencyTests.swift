import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

/// The limits on how often a type may wake its consumer.
@Suite struct FrequencyTests {
    @Test func thereAreHealthKitsFour() {
        let hour = DeliveryBench.hour
        #expect(DeliveryFrequency.allCases.map(\.name) == ["immediate", "hourly", "daily", "weekly"])
        #expect(DeliveryFrequency.allCases.map(\.rawValue) == [1, 2, 3, 4])
        #expect(DeliveryFrequency.allCases.map(\.period) == [.zero, hour, hour * 24, hour * (7 * 24)])
    }

    @Test(arguments: [DeliveryFrequency.hourly, .daily, .weekly])
    func aPeriodHasOneFireHoweverManyChanges(_ frequency: DeliveryFrequency) {
        let bench = DeliveryBench()
        bench.register(["*": frequency])
        bench.enter(.background)
        #expect(bench.change("weight").types == ["weight"])
        bench.acknowledge("weight")
        for _ in 0..<3 { #expect(bench.change("weight").fires.isEmpty) }
        let newest = bench.head
        #expect(bench.pass(frequency.period - .microseconds(1)).fires.isEmpty)
        // Firing once covers all three changes. The period is a lower bound: waiting for two periods doesn't lead to two
        // fires.
        let fires = bench.pass(frequency.period * 2 + .microseconds(1)).fires
        #expect(fires.map(\.type) == ["weight"] && fires.map(\.sequence) == [newest])
    }

    /// In the background an immediate type isn't held back by its own frequency; any delay that the system adds is
    /// `isDeferring`.
    @Test func immediateIsAsSoonAsTheSystemLets() {
        let bench = DeliveryBench()
        bench.register()
        bench.enter(.terminated)
        for _ in 0..<3 {
            #expect(bench.change("workout").types == ["workout"])
            bench.acknowledge("workout")
        }
        bench.device.isDeferring = true
        #expect(bench.change("workout").fires.isEmpty)
        bench.device.isDeferring = false
        #expect(bench.pass(4 * DeliveryBench.hour).types == ["workout"])
    }
}
