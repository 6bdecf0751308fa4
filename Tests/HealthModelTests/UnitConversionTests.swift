import Foundation
import HealthModel
import Testing

@Suite struct UnitConversionTests {
    static func quantity(_ name: String) -> HealthType { HealthType.named("HKQuantityTypeIdentifier" + name) }

    /// Type, unit of the input, a value in that unit, and the value in the canonical unit.
    @Test(
        arguments: [
            ("DistanceWalkingRunning", "km", 1.5, 1500), ("DistanceWalkingRunning", "mi", 1, 1609.344),
            ("DistanceSwimming", "yd", 100, 91.44), ("Height", "ft", 6, 1.8288), ("Height", "in", 70, 1.778),
            ("Height", "cm", 175, 1.75), ("WalkingStepLength", "cm", 70, 0.7),
            ("ActiveEnergyBurned", "kJ", 4.184, 1), ("ActiveEnergyBurned", "Cal", 12, 12),
            ("ActiveEnergyBurned", "kcal", 12, 12),
            ("ActiveEnergyBurned", "cal", 1000, 1), ("ActiveEnergyBurned", "J", 4184, 1),
            ("BodyMass", "lb", 10, 4.5359237), ("BodyMass", "g", 2500, 2.5), ("BodyMass", "st", 10, 63.5029318),
            ("BodyMass", "oz", 16, 0.45359237), ("BodyTemperature", "degF", 98.6, 37),
            ("BodyTemperature", "K", 310.15, 37),
            ("HeartRate", "count/s", 1, 60), ("HeartRate", "count/min", 61, 61), ("HeartRate", "Hz", 2, 120),
            ("OxygenSaturation", "%", 0.97, 0.97), ("BloodGlucose", "mg/dL", 90, 90),
            ("BloodGlucose", "mmol<180.1558800000541>/L", 5, 90.07794000002705),
            ("BloodGlucose", "mmol/L", 5, 90.07794000002704),
            ("BloodGlucose", "g/L", 1, 100), ("BloodPressureSystolic", "kPa", 16, 16_000 / 133.322387415),
            ("VO2Max", "mL/min·kg", 40, 40), ("VO2Max", "ml/(kg*min)", 40, 40), ("VO2Max", "mL/kg·min", 40, 40),
            ("VO2Max", "L/(min·kg)", 0.04, 40),
            ("AppleExerciseTime", "s", 90, 1.5), ("AppleExerciseTime", "hr", 2, 120),
            ("HeartRateVariabilitySDNN", "s", 0.05, 50),
            ("DietaryWater", "L", 1.5, 1500), ("DietaryWater", "fl_oz_us", 1, 29.5735295625),
            ("DietaryWater", "cup_us", 1, 236.5882365),
            ("WalkingSpeed", "km/hr", 36, 10), ("WalkingSpeed", "mi/hr", 10, 4.4704),
            ("PhysicalEffort", "kcal/hr·kg", 3, 3),
            ("PhysicalEffort", "kcal/(kg·hr)", 3, 3), ("RunningPower", "kW", 0.3, 300), ("InsulinDelivery", "IU", 4, 4),
            ("EnvironmentalAudioExposure", "dBASPL", 70, 70), ("DietaryVitaminB12", "mg", 0.0024, 2.4),
            ("DietarySodium", "g", 1.2, 1200), ("DietaryFolate", "ug", 400, 400),
            ("ElectrodermalActivity", "S", 0.000002, 2),
            ("WorkoutEffortScore", "appleEffortScore", 7, 7),
        ] as [(String, String, Double, Double)])
    func converts(type: String, unit: String, value: Double, canonical: Double) throws {
        let factors = try #require(UnitConversion.toCanonical(unit: unit, for: Self.quantity(type)))
        let result = value * factors.scale + factors.offset
        #expect(abs(result - canonical) <= 1e-12 * abs(canonical), "\(result)")
    }

    @Test(arguments: [
        ("StepCount", "m"), ("BodyMass", "m"), ("HeartRate", "count"), ("BodyMass", "kg·m"), ("BodyMass", ""),
        ("BodyMass", "stone"),
        ("BodyMass", "kg/"), ("BodyMass", "(kg"), ("BodyMass", "kg)"), ("BodyMass", "kg^"), ("BodyMass", "g<12>"),
        ("BodyMass", "mol<-3>"), ("BodyMass", "mol<"), ("Height", "mmol/L"), ("Unheard", "count"),
        ("BodyMass", "((((((((((kg))))))))))"), ("BloodPressureSystolic", "mmol/L"),
        // Exponents that don't fit into a byte.
        ("StepCount", "(((m^4)^4)^4)^4"), ("BloodGlucose", "mol·((kg^6)^6)^3·(kg^6)^3·kg"),
    ])
    func refuses(type: String, unit: String) {
        #expect(UnitConversion.toCanonical(unit: unit, for: Self.quantity(type)) == nil)
    }

    @Test func theSameUnitChangesNothing() throws {
        for type in HealthType.allKnown.values where !type.unit.isEmpty {
            let factors = try #require(UnitConversion.toCanonical(unit: type.unit, for: type))
            #expect(factors.scale == 1 && factors.offset == 0, "\(type.identifier)")
            // Tested through the parser as well, not only by comparing the text of the unit.
            let spelt = try #require(UnitConversion.toCanonical(unit: type.unit + "^1", for: type), "\(type.unit)")
            #expect(spelt.scale == 1)
        }
    }

    @Test(arguments: [
        ("mi", "m"), ("kJ", "kcal"), ("lb", "kg"), ("degF", "K"), ("count/min", "count/s"), ("mmHg", "kPa"),
        ("in", "cm"),
    ])
    func thereAndBackIsTheSame(a: String, b: String) throws {
        let (from, to) = (try #require(HealthUnit(a)), try #require(HealthUnit(b)))
        let there = try #require(UnitConversion.factors(from: from, to: to))
        let back = try #require(UnitConversion.factors(from: to, to: from))
        for value in [0.001, 1, 72.5, 98_765.4321] {
            let result = (value * there.scale + there.offset) * back.scale + back.offset
            #expect(abs(result - value) <= 1e-12 * max(value, 300))
        }
    }

    @Test func aStatisticConvertsLikeItsSamples() throws {
        let glucose = Self.quantity("BloodGlucose")
        let statistic = HealthType.named(HealthType.statistics(of: glucose.identifier))
        let factors = try #require(UnitConversion.toCanonical(unit: "mmol/L", for: statistic))
        #expect(factors.scale == UnitConversion.toCanonical(unit: "mmol/L", for: glucose)?.scale)
    }

    @Test func bytesReadLikeText() throws {
        var unit = "km"
        let factors = unit.withUTF8 { UnitConversion.toCanonical(unit: $0, for: Self.quantity("DistanceCycling")) }
        #expect(factors?.scale == 1000)
    }
}
