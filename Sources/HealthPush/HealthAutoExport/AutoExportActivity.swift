import HealthModel

/// The app's names for workouts, as shown to people: "Outdoor Run", "Traditional Strength Training".
enum AutoExportActivity {
    /// HealthKit's identifier; an unknown name is kept. iOS translates names ("Outdoor Ausführen"), so names in other
    /// languages are unknown.
    static func identifier(of name: String) -> String {
        let words = name.lowercased().split { !$0.isLetter }.map(String.init)
        let all = words.joined()
        if let known = names[all] { return known }
        let bare = words.filter { !places.contains($0) }.joined()
        return names[bare] ?? name
    }

    /// Whether the name says that the workout was indoors; nil if it doesn't say.
    static func isIndoor(_ text: String) -> Bool? {
        let words = text.lowercased().split { !$0.isLetter }
        if words.contains("indoor") { return true }
        return words.contains("outdoor") ? false : nil
    }

    private static let places: Set = ["indoor", "outdoor", "pool", "open", "water", "openwater"]

    private static let names: [String: String] = {
        var names: [String: String] = [:]
        for raw in [Int](1...80) + [82, 83, 84, 3000] {
            let activity = WorkoutActivity(raw: raw)
            // For 81 and for numbers that HealthKit doesn't use, the app uses the names of other workouts.
            if activity.name != "other" || raw == 3000 { names[activity.name.lowercased()] = activity.identifier }
        }
        for entry in others.split(whereSeparator: \.isWhitespace) {
            let parts = entry.split(separator: "=")
            guard parts.count == 2 else { continue }
            for name in parts[1].split(separator: ",") {
                names[String(name)] = WorkoutActivity(named: parts[0]).identifier
            }
        }
        return names
    }()

    private static let others = """
        running=run,treadmill,treadmillrun walking=walk,treadmillwalk hiking=hike swimming=swim,swim
        cycling=cycle,bike,bikeride,ride,biking,spinning rowing=row,rower golf=golfing climbing=climb,rockclimbing
        highIntensityIntervalTraining=hiit traditionalStrengthTraining=strength,strengthtraining,weightlifting
        functionalStrengthTraining=functionalstrength coreTraining=core flexibility=stretching
        stairClimbing=stairstepper,stairclimber stairs=stair cardioDance=dancing dance=dances
        crossCountrySkiing=crosscountryski downhillSkiing=downhillski,skiing,alpineskiing snowboarding=snowboard
        skatingSports=skating,iceskating paddleSports=paddling,kayaking,canoeing surfingSports=surfing
        equestrianSports=equestrian,horsebackriding mindAndBody=mindbody martialArts=martialart
        soccer=football boxing=box jumpRope=ropejumping,skippingrope mixedCardio=cardio
        mixedMetabolicCardioTraining=mixedmetaboliccardio wheelchairWalkPace=wheelchairwalk
        wheelchairRunPace=wheelchairrun underwaterDiving=diving,scubadiving swimBikeRun=triathlon,multisport
        fitnessGaming=fitnessgame preparationAndRecovery=recovery cooldown=coolingdown trackAndField=trackfield
        discSports=frisbee,ultimatefrisbee danceInspiredTraining=danceinspired elliptical=ellipticaltrainer
        americanFootball=usfootball handCycling=handcycle,handbike taiChi=taichichuan pilates=pilate
        """
}
