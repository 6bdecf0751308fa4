import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

/// Correlations can't be registered for background delivery.
@Suite struct CorrelationTests {
    private let pressure = HealthType.bloodPressureIdentifier
    private let systolic = HealthType.bloodPressureParts[0]

    @Test func aCorrelationWakesNobodyButComesAlongWithItsParts() {
        let bench = DeliveryBench()
        bench.register()
        bench.enter(.background)
        #expect(bench.change(pressure).types == [] && bench.deadline == nil)
        #expect(bench.pass(bench.hours(24)).types == [])
        // Nothing is lost: it stays due.
        #expect(bench.table.state(pressure) == .waiting)
        #expect(bench.change(systolic).types.sorted() == [pressure, systolic].sorted())
        #expect(bench.table.state(pressure) == .on)
    }

    @Test func itComesAlongWithAnyOtherTypeThatIsDue() {
        let bench = DeliveryBench { $0.floors["steps"] = .hourly }
        bench.register()
        bench.enter(.background)
        bench.change("steps")
        bench.acknowledge("steps")
        #expect(bench.change("steps", pressure).types == [])
        #expect(bench.pass(bench.hours(1)).types.sorted() == [pressure, "steps"].sorted())
    }

    @Test func onTheScreenItFiresLikeAllOthers() {
        let bench = DeliveryBench()
        bench.register()
        #expect(bench.change(pressure).types == [pressure])
        bench.enter(.background)
        bench.change(pressure)
        #expect(bench.enter(.active).types.contains(pressure))
    }

    /// It is registered, with no frequency: reading it is allowed, and nobody learns that it is unheard.
    @Test func itHasNoFrequency() {
        let bench = DeliveryBench()
        bench.register()
        bench.table.setFrequency(.daily, pressure)
        #expect(bench.table.requested(pressure) == nil && bench.table.effective(pressure) == nil)
        #expect(bench.table.authorization(pressure, for: "app") == .requested && bench.table.isRegistered(pressure))
        bench.enter(.background)
        #expect(bench.change(pressure).unheard == [])
    }
}

extension DeliveryBench {
    func hours(_ count: Int64) -> Duration { Self.hour * count }
}
