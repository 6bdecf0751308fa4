import HealthModel

/// Symptoms and cycle-tracking entries, by the names shown to people: "Chest Tightness or Pain", "Menstrual Flow".
enum AutoExportCategory {
    /// Nil for an unknown name. The app translates names into the phone's language in its own words, so only the
    /// English names are known.
    static func identifier(of name: String) -> String? {
        let key = AutoExportMetric.key(name)
        return own[key] ?? others[key]
    }

    /// Values that the app words differently from HealthKit.
    static func raw(_ value: String, _ identifier: String) -> Int? {
        guard let name = values[AutoExportMetric.key(value)] else { return nil }
        return CategoryValue.raw(ofBare: name, type: identifier)
    }

    private static let own = AutoExportMetric.names(of: .category, AutoExportMetric.category)

    private static let others: [String: String] = {
        let names = [
            "bodyandmuscleache": "GeneralizedBodyAche", "bodyache": "GeneralizedBodyAche", "cough": "Coughing",
            "congestion": "SinusCongestion", "nasalcongestion": "SinusCongestion", "diarrhoea": "Diarrhea",
            "chesttightness": "ChestTightnessOrPain", "chestpain": "ChestTightnessOrPain",
            "rapidpoundingheartbeat": "RapidPoundingOrFlutteringHeartbeat",
            "rapidheartbeat": "RapidPoundingOrFlutteringHeartbeat", "feelingfaint": "Fainting",
            "changesinappetite": "AppetiteChanges", "changesinmood": "MoodChanges", "changesinsleep": "SleepChanges",
            "cramps": "AbdominalCramps", "lowbackpain": "LowerBackPain", "hotflash": "HotFlashes",
            "period": "MenstrualFlow", "menstruation": "MenstrualFlow", "spotting": "IntermenstrualBleeding",
            "ovulationtest": "OvulationTestResult", "cervicalmucus": "CervicalMucusQuality",
            "pregnancytest": "PregnancyTestResult", "progesteronetest": "ProgesteroneTestResult",
            "contraceptives": "Contraceptive", "irregularcycles": "IrregularMenstrualCycles",
            "infrequentperiods": "InfrequentMenstrualCycles", "prolongedperiods": "ProlongedMenstrualPeriods",
            "persistentspotting": "PersistentIntermenstrualBleeding",
        ]
        return names.mapValues { AutoExportMetric.category + $0 }
    }()

    /// Values as shown by the app or Apple's Health app: a symptom that is present but has no details is "unspecified".
    private static let values = [
        "present": "Unspecified", "lhsurge": "LuteinizingHormoneSurge", "surge": "LuteinizingHormoneSurge",
        "high": "EstrogenSurge", "iud": "IntrauterineDevice", "ring": "IntravaginalRing", "pill": "Oral",
        "nobleeding": "None", "lotion": "Creamy", "eggwhites": "EggWhite", "indeterminable": "Indeterminate",
    ]
}
