/// A workout's kind: HealthKit's raw value and name.
public struct WorkoutActivity: Hashable, Sendable {
    /// HKWorkoutActivityType's raw value, even if it isn't in the table; nil for a name that isn't in the table.
    public let raw: Int?
    /// The short name, such as "running", or "other" if it isn't in the table.
    public let name: String
    /// The name that exports print, such as `HKWorkoutActivityTypeRunning`; a name that isn't in the table is kept as
    /// given, and a number that isn't becomes `HKWorkoutActivityTypeOther`.
    public let identifier: String

    /// The activity for a raw value; an unknown raw value is kept.
    public init(raw: Int) {
        let name = Self.names[raw] ?? "other"
        let identifier = Self.prefix + name.prefix(1).uppercased() + name.dropFirst()
        self.init(raw: raw, name: name, identifier: identifier)
    }

    /// The activity for a short name, a name as exports print it (`HKWorkoutActivityTypeRunning`), the digits of a raw
    /// value, or a name in any other spelling ("Running", "Outdoor Run").
    public init(named text: some StringProtocol) {
        let prefixed = text.hasPrefix(Self.prefix) && text.count > Self.prefix.count
        let bare = prefixed ? Self.lowercasingFirst(text.dropFirst(Self.prefix.count)) : String(text)
        if let raw = Self.raws[bare] ?? Int(bare) ?? Self.raw(ofSpelling: bare) {
            self.init(raw: raw)
        } else {
            self.init(raw: nil, name: "other", identifier: String(text))
        }
    }

    private init(raw: Int?, name: String, identifier: String) {
        (self.raw, self.name, self.identifier) = (raw, name, identifier)
    }

    private static let prefix = "HKWorkoutActivityType"

    private static func lowercasingFirst(_ text: some StringProtocol) -> String {
        text.prefix(1).lowercased() + String(text.dropFirst())
    }

    static let raws = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

    /// HKWorkoutActivityType from HKWorkout.h; 81 is unused.
    static let names: [Int: String] = {
        let upTo80 = """
            americanFootball archery australianFootball badminton baseball basketball bowling boxing climbing cricket
            crossTraining curling cycling dance danceInspiredTraining elliptical equestrianSports fencing fishing
            functionalStrengthTraining golf gymnastics handball hiking hockey hunting lacrosse martialArts mindAndBody
            mixedMetabolicCardioTraining paddleSports play preparationAndRecovery racquetball rowing rugby running sailing
            skatingSports snowSports soccer softball squash stairClimbing surfingSports swimming tableTennis tennis
            trackAndField traditionalStrengthTraining volleyball walking waterFitness waterPolo waterSports wrestling yoga
            barre coreTraining crossCountrySkiing downhillSkiing flexibility highIntensityIntervalTraining jumpRope
            kickboxing pilates snowboarding stairs stepTraining wheelchairWalkPace wheelchairRunPace taiChi mixedCardio
            handCycling discSports fitnessGaming cardioDance socialDance pickleball cooldown
            """
        var names = [82: "swimBikeRun", 83: "transition", 84: "underwaterDiving", 3000: "other"]
        for (index, name) in upTo80.split(whereSeparator: \.isWhitespace).enumerated() {
            names[index + 1] = String(name)
        }
        return names
    }()
}
