import HealthModel
import TestSupport

/// Two days in the life of a made-up person, as reported by an export, by Health Auto Export and by a person's own
/// program.
///
/// Exports and the app print whole seconds, and use different units with fewer digits; only the program provides UUIDs.
struct ThreeWayLife {
    struct Sample {
        var uuid: String
        var kind: Kind
        var source: String
        /// Microseconds since 1970.
        var start: Int64
        var end: Int64
        /// In the unit that the program uses.
        var value: Double
        /// Whether it has been deleted by the end of this life.
        var isDeleted = false
    }

    enum Kind: CaseIterable { case steps, heartRate, respiratoryRate, distance, mass, energy, sleep, workout }

    static let firstDay = LocalDay(year: 2025, month: 3, day: 20)
    static let days = 2
    static let zone = "Europe/Berlin"
    private(set) var samples: [Sample] = []
    private var random: SeededRandom

    init(seed: UInt64, deletes: Bool = true) {
        random = SeededRandom(seed: seed)
        for day in 0..<Self.days {
            let midnight = (Int64(Self.firstDay.number + day) * 86_400 - 3600) * 1_000_000
            for _ in 0..<14 { add(.steps, midnight, hours: 8...21, seconds: 30...600) }
            for _ in 0..<10 { add(.heartRate, midnight, hours: 0...23, seconds: 0...0) }
            for _ in 0..<6 { add(.distance, midnight, hours: 8...21, seconds: 60...900) }
            for _ in 0..<6 { add(.energy, midnight, hours: 8...21, seconds: 60...900) }
            add(.mass, midnight, hours: 7...8, seconds: 0...0)
            for hour: Int64 in 1...5 { add(.sleep, midnight, hours: hour...hour, seconds: 600...3000) }
            add(.workout, midnight, hours: 9...18, seconds: 1200...3600)
        }
        // Samples that differ only in their UUIDs.
        for index in samples.indices.filter({ samples[$0].kind != .workout && $0 % 9 == 4 }) {
            var twin = samples[index]
            twin.uuid = makeUUID()
            samples.append(twin)
        }
        for index in samples.indices where deletes && Int.random(in: 0..<6, using: &random) == 0 {
            samples[index].isDeleted = true
        }
        samples.sort { ($0.start, $0.uuid) < ($1.start, $1.uuid) }
    }

    private mutating func makeUUID() -> String {
        SampleID(high: random.next() & ~0xF000 | 0x4000, low: random.next() | 1 << 63).description.uppercased()
    }

    private mutating func add(
        _ kind: Kind, _ midnight: Int64, hours: ClosedRange<Int64>, seconds: ClosedRange<Int64>
    ) {
        let hour = Int64.random(in: hours, using: &random)
        let start =
            midnight + hour * 3_600_000_000 + Int64.random(in: 0..<600, using: &random) * 1_000_000
            + Int64.random(in: 0..<1_000_000, using: &random)
        let length = Int64.random(in: seconds, using: &random) * 1_000_000
        let value: Double =
            switch kind {
            case .steps: Double(Int.random(in: 1...900, using: &random))
            case .heartRate: Double(Int.random(in: 500...1500, using: &random)) / 10
            case .respiratoryRate: Double(Int.random(in: 100...200, using: &random)) / 10
            case .distance: Double.random(in: 5...900, using: &random)
            case .mass: Double.random(in: 60...80, using: &random)
            case .energy: Double.random(in: 0.5...40, using: &random)
            case .sleep: Double([1, 2, 3, 4, 5].randomElement(using: &random) ?? 3)
            case .workout: Double.random(in: 1000...9000, using: &random)
            }
        let isPhones = [.steps, .distance].contains(kind) && Bool.random(using: &random)
        samples.append(
            Sample(
                uuid: makeUUID(), kind: kind, source: isPhones ? "Robin’s iPhone" : "Robin’s Watch & Co",
                start: start, end: length == 0 ? start : start + length, value: value))
    }
}

// MARK: How each way describes a sample

extension ThreeWayLife.Sample {
    private static let stages = ["", "AsleepUnspecified", "Awake", "AsleepCore", "AsleepDeep", "AsleepREM"]
    private static let autoExportStages = ["", "Asleep", "Awake", "Core", "Deep", "REM"]

    var type: String {
        switch kind {
        case .steps: "HKQuantityTypeIdentifierStepCount"
        case .heartRate: "HKQuantityTypeIdentifierHeartRate"
        case .respiratoryRate: "HKQuantityTypeIdentifierRespiratoryRate"
        case .distance: "HKQuantityTypeIdentifierDistanceWalkingRunning"
        case .mass: "HKQuantityTypeIdentifierBodyMass"
        case .energy: "HKQuantityTypeIdentifierActiveEnergyBurned"
        case .sleep: "HKCategoryTypeIdentifierSleepAnalysis"
        case .workout: "HKWorkoutTypeIdentifier"
        }
    }

    /// As exports and the app print it: Berlin's wall clock in winter, whole seconds.
    static func date(_ microseconds: Int64) -> String {
        let second = (microseconds - (microseconds % 1_000_000)) / 1_000_000
        let wall = InstantText.iso8601(Instant(seconds: second + 3600))
        return wall.dropLast().replacing("T", with: " ") + " +0100"
    }

    /// A number with six significant digits, as exports print it.
    private static func six(_ value: Double) -> String {
        var scale = 1.0
        while abs(value) * scale < 100_000 { scale *= 10 }
        return "\((value * scale).rounded() / scale)"
    }

    private static let pound = 0.45359237

    var inExport: String {
        let (from, to) = (Self.date(start), Self.date(end))
        let name = source.replacing("&", with: "&amp;")
        let common =
            "sourceName=\"\(name)\" sourceVersion=\"11.3\" creationDate=\"\(to)\" startDate=\"\(from)\" endDate=\"\(to)\""
        func record(_ unit: String, _ value: String) -> String {
            " <Record type=\"\(type)\" unit=\"\(unit)\" \(common) value=\"\(value)\"/>"
        }
        switch kind {
        case .steps: return record("count", "\(Int(value))")
        case .heartRate, .respiratoryRate: return record("count/min", Self.six(value))
        case .distance: return record("km", Self.six(value / 1000))
        case .mass: return record("lb", Self.six(value / Self.pound))
        case .energy: return record("kcal", Self.six(value))
        case .sleep:
            return
                " <Record type=\"\(type)\" \(common) value=\"HKCategoryValueSleepAnalysis\(Self.stages[Int(value)])\"/>"
        case .workout:
            return
                " <Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" duration=\"\(seconds / 60)\" durationUnit=\"min\" "
                + "totalDistance=\"\(Self.six(value / 1000))\" totalDistanceUnit=\"km\" \(common)/>"
        }
    }

    private var seconds: Double { Double((end - start) / 1_000_000) }

    /// The metric's name and unit; nil for a workout.
    var metric: (name: String, unit: String)? {
        switch kind {
        case .steps: ("step_count", "count")
        case .heartRate: ("heart_rate", "bpm")
        case .respiratoryRate: ("respiratory_rate", "count/min")
        case .distance: ("walking_running_distance", "km")
        case .mass: ("weight_body_mass", "lb")
        case .energy: ("active_energy", "kJ")
        case .sleep: ("sleep_analysis", "hr")
        case .workout: nil
        }
    }

    var inAutoExport: String {
        let (from, to) = (Self.date(start), Self.date(end))
        let quantity: Double =
            switch kind {
            case .distance: value / 1000
            case .mass: value / Self.pound
            case .energy: value * 4.184
            default: value
            }
        switch kind {
        case .heartRate:
            return #"{"date":"\#(from)","Min":\#(value),"Avg":\#(value),"Max":\#(value),"source":"\#(source)"}"#
        case .mass: return #"{"date":"\#(from)","qty":\#(quantity),"source":"\#(source)"}"#
        case .sleep:
            return #"{"startDate":"\#(from)","endDate":"\#(to)","qty":\#(seconds / 3600),"#
                + #""value":"\#(Self.autoExportStages[Int(value)])","source":"\#(source)"}"#
        case .workout:
            // The app doesn't say which source recorded a workout.
            return #"{"name":"Outdoor Run","start":"\#(from)","end":"\#(to)","duration":\#(seconds),"#
                + #""distance":{"qty":\#(value / 1000),"units":"km"}}"#
        default:
            return #"{"date":"\#(from)","start":"\#(from)","end":"\#(to)","qty":\#(quantity),"source":"\#(source)"}"#
        }
    }

    /// What the app sends.
    /// - Parameter metrics: others, as JSON.
    static func autoExportBody(_ samples: [Self], and metrics: [String] = []) -> String {
        let groups = Dictionary(grouping: samples.filter { $0.metric != nil }) { $0.metric?.name ?? "" }
        let known = groups.sorted { $0.key < $1.key }.map { name, list in
            #"{"name":"\#(name)","units":"\#(list.first?.metric?.unit ?? "")","data":[\#(list.map(\.inAutoExport).joined(separator: ","))]}"#
        }
        let workouts = samples.filter { $0.kind == .workout }.map(\.inAutoExport)
        return
            #"{"data":{"metrics":[\#((known + metrics).joined(separator: ","))],"workouts":[\#(workouts.joined(separator: ","))]}}"#
    }

    var inProgram: String {
        func seconds(_ microseconds: Int64) -> String {
            let rest = String(1_000_000 + microseconds % 1_000_000).dropFirst()
            return "\(microseconds / 1_000_000).\(rest)"
        }
        let common =
            #""uuid":"\#(uuid)","type":"\#(type)","start":\#(seconds(start)),"end":\#(seconds(end)),"#
            + #""source":{"name":"\#(source)","version":"11.3","productType":"Watch6,2"}"#
        let unit =
            switch kind {
            case .steps: "count"
            case .heartRate, .respiratoryRate: "count/min"
            case .distance: "m"
            case .mass: "kg"
            case .energy: "kcal"
            case .sleep, .workout: ""
            }
        switch kind {
        case .sleep: return #"{\#(common),"value":\#(Int(value))}"#
        case .workout:
            return #"{\#(common),"workout":{"activity":"running","durationSeconds":\#(self.seconds),"#
                + #""totalDistanceMeters":\#(value)}}"#
        default: return #"{\#(common),"value":\#(value),"unit":"\#(unit)"}"#
        }
    }
}

// MARK: The Open Wearables SDK

extension ThreeWayLife.Sample {
    /// As the SDK describes it, in whole seconds and in units of its own.
    private var inOpenWearables: String {
        func date(_ microseconds: Int64) -> String {
            InstantText.iso8601(Instant(seconds: Instant(microseconds: microseconds).flooredSecond))
        }
        let common =
            #""id":"\#(uuid.uppercased())","parentId":null,"startDate":"\#(date(start))","endDate":"\#(date(end))","#
            + #""source":{"name":"\#(source)"}"#
        let unit =
            switch kind {
            case .heartRate: "bpm"
            case .respiratoryRate: "breaths/min"
            case .distance: "m"
            case .mass: "kg"
            case .energy: "Cal"
            case .steps, .sleep, .workout: "count"
            }
        switch kind {
        case .sleep:
            let stages = ["in_bed", "sleeping", "awake", "light", "deep", "rem"]
            return #"{\#(common),"stage":"\#(stages[Int(value)])"}"#
        case .workout:
            let distance = #"{"type":"distance","value":\#(value),"unit":"m"}"#
            return #"{\#(common),"type":"running","values":[\#(distance)]}"#
        default: return #"{\#(common),"type":"\#(type)","value":\#(value),"unit":"\#(unit)"}"#
        }
    }

    /// What the SDK sends.
    /// - Parameter records: others, as JSON.
    static func openWearablesBody(_ samples: [Self], and records: [String] = []) -> String {
        func list(_ belongs: (ThreeWayLife.Kind) -> Bool) -> [String] {
            samples.filter { belongs($0.kind) }.map(\.inOpenWearables)
        }
        let all = list { $0 != .sleep && $0 != .workout } + records
        return #"{"provider":"apple","sdkVersion":"0.6.0","syncTimestamp":"2025-03-22T08:00:00Z","data":{"#
            + #""records":[\#(all.joined(separator: ","))],"sleep":[\#(list { $0 == .sleep }.joined(separator: ","))],"#
            + #""workouts":[\#(list { $0 == .workout }.joined(separator: ","))]}}"#
    }
}

// MARK: Life Dashboard Companion

extension ThreeWayLife.Sample {
    /// The list that the app has it in, and the record: values rounded, whole seconds, readings without an end.
    private var inLifeDashboard: (list: String, record: String) {
        func date(_ microseconds: Int64) -> String {
            InstantText.iso8601(Instant(seconds: Instant(microseconds: microseconds).flooredSecond))
        }
        let common = #""uuid":"\#(uuid.uppercased())","source":"\#(source)""#
        let span = #"\#(common),"start_time":"\#(date(start))","end_time":"\#(date(end))""#
        let instant = #"\#(common),"time":"\#(date(start))""#
        switch kind {
        case .steps: return ("steps", #"{\#(span),"count":\#(Int(value.rounded()))}"#)
        case .heartRate: return ("heart_rate", #"{\#(instant),"bpm":\#(Int(value.rounded()))}"#)
        case .respiratoryRate:
            return ("respiratory_rate", #"{\#(instant),"rate":\#((value * 10).rounded() / 10)}"#)
        case .distance: return ("distance", #"{\#(span),"meters":\#((value * 1000).rounded() / 1000)}"#)
        case .mass: return ("weight", #"{\#(instant),"kilograms":\#((value * 100).rounded() / 100)}"#)
        case .energy: return ("active_calories", #"{\#(span),"calories":\#((value * 100).rounded() / 100)}"#)
        case .sleep:
            let stages = ["in_bed", "sleeping", "awake", "light", "deep", "rem"]
            return ("sleep", #"{\#(common),"stages":[{\#(span),"stage":"\#(stages[Int(value)])"}]}"#)
        case .workout: return ("exercise", #"{\#(span),"type":"running","duration_seconds":\#(Int(seconds))}"#)
        }
    }

    /// What the app sends.
    /// - Parameter steps: others, as JSON.
    static func lifeDashboardBody(_ samples: [Self], and steps: [String] = []) -> String {
        var lists: [String: [String]] = ["steps": steps]
        for (list, record) in samples.map(\.inLifeDashboard) { lists[list, default: []].append(record) }
        let members = lists.sorted { $0.key < $1.key }.map { #""\#($0)":[\#($1.joined(separator: ","))]"# }
        return #"{"timestamp":"2025-03-22T08:00:00Z","app_version":"1.6.0","source":"healthkit_ios","sequence":1,"#
            + members.joined(separator: ",") + "}"
    }
}
