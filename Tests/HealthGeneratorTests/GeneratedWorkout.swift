import HealthModel
import HealthStatistics
import Testing

/// One workout as it is delivered, and the samples during it.
struct GeneratedWorkout {
    let activity: String
    private let event: Value
    private let index: Int
    private let life: GeneratedLife
    private let start: Instant
    private let end: Instant
    private let seconds: Double
    private let meters: Double

    init(_ event: Value, _ index: Int, _ life: GeneratedLife) throws {
        self.event = event
        self.index = index
        self.life = life
        activity = try #require(event["type"].string)
        start = try #require(event["startDate"].string.flatMap(InstantText.parse))
        end = try #require(event["endDate"].string.flatMap(InstantText.parse))
        seconds = try #require(event["duration"].double)
        meters = try #require(event["distance"].double)
    }

    private func rows(_ type: String) -> [GeneratedLife.Row] {
        life.rows(type, on: index, from: start, to: end, source: "Watch")
    }

    private func sum(_ type: String) -> Double { rows(type).reduce(0) { $0 + $1.value } }

    func check() throws {
        try checkHeart()
        checkAmounts()
        try checkRoute()
    }

    private func checkHeart() throws {
        let rate = event["heartRate"]
        let average = try #require(rate["average"].double)
        let rates = rows("HeartRate").map(\.value)
        #expect(abs(rates.reduce(0, +) / Double(rates.count) - average) <= 1, "\(activity) \(start)")
        #expect(rates.min() == rate["minimum"].double && rates.max() == rate["maximum"].double)
        let zones = try #require(event["heartRateZones"].array).compactMap { $0["seconds"].double }
        #expect(abs(zones.reduce(0, +) - seconds) <= 60, "\(activity) \(start): zones of \(zones.reduce(0, +)) s")
        // It warms up, and it never jumps.
        let begin = rates.prefix(6).reduce(0, +) / 6
        #expect(begin < average && average < 195 && begin > 45)
        #expect(zip(rates, rates.dropFirst()).allSatisfy { abs($0 - $1) <= 12 })
        let usual: ClosedRange<Double> = activity == "walking" ? 75...135 : activity == "running" ? 105...180 : 95...170
        #expect(usual.contains(average), "\(activity) \(average)")
    }

    private func checkAmounts() {
        let type = activity == "cycling" ? "DistanceCycling" : "DistanceWalkingRunning"
        #expect(abs(sum(type) / meters - 1) < 0.01, "\(activity) \(start): \(sum(type)) of \(meters) m")
        let energy = event["activeEnergy"].double ?? 0
        #expect(abs(sum("ActiveEnergyBurned") / energy - 1) < 0.02, "\(activity) \(start)")
        let perMinute = energy / seconds * 60
        let speed = meters / seconds
        let usual: (speed: ClosedRange<Double>, energy: ClosedRange<Double>) =
            switch activity {
            case "running": (1.9...4, 5...18)
            case "walking": (1...1.9, 2...7)
            default: (3.8...8.5, 4...15)
            }
        #expect(usual.speed.contains(speed) && usual.energy.contains(perMinute), "\(activity) \(speed) \(perMinute)")
        guard activity != "cycling" else { return }
        let cadence = sum("StepCount") / seconds * 60
        #expect((activity == "running" ? 150...185 : 95...135).contains(cadence), "\(activity) \(cadence)")
        let kilometers = (event["events"].array ?? []).filter { ($0["type"].string ?? "").hasSuffix("egment") }
        #expect(kilometers.count == Int(meters / 1000), "\(activity) \(start): \(kilometers.count) of \(meters) m")
    }

    private func checkRoute() throws {
        guard !event["route"].isNull else {
            #expect(
                event["metadata"]["HKIndoorWorkout"].string == "1" || event["metadata"]["HKIndoorWorkout"].double == 1)
            return
        }
        let route = event["route"]
        #expect(
            abs((route["distanceMeters"].double ?? 0) / meters - 1) < 0.01,
            "\(activity) \(start): route \(route["distanceMeters"]) of \(meters)")
        #expect((0...250).contains(route["ascentMeters"].double ?? -1))
        let heights = route["track"]["elevation"].array?.compactMap(\.double) ?? []
        #expect(heights.count > 10)
        let places = try track(route["track"])
        let length = zip(places, places.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
        #expect(abs(length / meters - 1) < 0.01, "\(activity) \(start): track \(length) of \(meters)")
    }

    private func track(_ track: Value) throws -> [EarthPoint] {
        let north = try #require(track["latitude"].array).compactMap(\.double)
        let east = try #require(track["longitude"].array).compactMap(\.double)
        return zip(north, east).map { EarthPoint(latitude: $0, longitude: $1) }
    }
}
