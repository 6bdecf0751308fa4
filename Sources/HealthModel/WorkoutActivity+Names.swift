extension WorkoutActivity {
    /// HealthKit's raw value for a name in any English spelling: the case's ("traditionalStrengthTraining",
    /// "TraditionalStrengthTraining"), the one that Apple and other apps show ("Traditional Strength Training"), with or
    /// without the place ("Outdoor Run", "Pool Swim"). Nil for an unknown name.
    ///
    /// iOS translates names ("Outdoor Ausführen"); those in other languages are unknown.
    static func raw(ofSpelling text: some StringProtocol) -> Int? {
        let words = text.lowercased().split { !$0.isLetter }.map(String.init)
        let all = words.joined()
        for key in [all, words.filter { !places.contains($0) }.joined()] {
            if let raw = spellings[key] { return raw }
        }
        // Written together, as in "OutdoorRun".
        return places.lazy.filter { all.hasPrefix($0) }.compactMap { spellings[String(all.dropFirst($0.count))] }.first
    }

    private static let places: Set = ["indoor", "outdoor", "pool", "open", "water", "openwater"]

    private static let spellings: [String: Int] = {
        var spellings: [String: Int] = [:]
        for (raw, name) in names { spellings[name.lowercased()] = raw }
        for entry in others.split(whereSeparator: \.isWhitespace) {
            let parts = entry.split(separator: "=")
            guard parts.count == 2, let raw = raws[String(parts[0])] else { continue }
            for name in parts[1].split(separator: ",") { spellings[String(name)] = raw }
        }
        return spellings
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
