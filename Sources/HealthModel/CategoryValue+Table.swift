/// The values in HKCategoryValues.h: each family of values with its names in order of preference, and the types that
/// share a family.
enum CategoryValueTable {
    static let families: [(String, [(String, Int)])] = [
        (
            "SleepAnalysis",
            [
                ("InBed", 0), ("AsleepUnspecified", 1), ("Asleep", 1), ("Awake", 2), ("AsleepCore", 3),
                ("AsleepDeep", 4),
                ("AsleepREM", 5),
            ]
        ),
        ("AppleStandHour", [("Stood", 0), ("Idle", 1)]),
        ("", [("NotApplicable", 0)]),
        ("CervicalMucusQuality", [("Dry", 1), ("Sticky", 2), ("Creamy", 3), ("Watery", 4), ("EggWhite", 5)]),
        (
            "OvulationTestResult",
            [
                ("Negative", 1), ("LuteinizingHormoneSurge", 2), ("Positive", 2), ("Indeterminate", 3),
                ("EstrogenSurge", 4),
            ]
        ),
        ("MenstrualFlow", [("Unspecified", 1), ("Light", 2), ("Medium", 3), ("Heavy", 4), ("None", 5)]),
        ("VaginalBleeding", [("Unspecified", 1), ("Light", 2), ("Medium", 3), ("Heavy", 4), ("None", 5)]),
        (
            "Contraceptive",
            [
                ("Unspecified", 1), ("Implant", 2), ("Injection", 3), ("IntrauterineDevice", 4),
                ("IntravaginalRing", 5),
                ("Oral", 6), ("Patch", 7),
            ]
        ),
        ("PregnancyTestResult", [("Negative", 1), ("Positive", 2), ("Indeterminate", 3)]),
        ("ProgesteroneTestResult", [("Negative", 1), ("Positive", 2), ("Indeterminate", 3)]),
        ("Severity", [("Unspecified", 0), ("NotPresent", 1), ("Mild", 2), ("Moderate", 3), ("Severe", 4)]),
        ("Presence", [("Present", 0), ("NotPresent", 1)]),
        ("AppetiteChanges", [("Unspecified", 0), ("NoChange", 1), ("Decreased", 2), ("Increased", 3)]),
        ("AudioExposureEvent", [("LoudEnvironment", 1)]),
        ("EnvironmentalAudioExposureEvent", [("MomentaryLimit", 1)]),
        ("HeadphoneAudioExposureEvent", [("SevenDayLimit", 1)]),
        ("LowCardioFitnessEvent", [("LowFitness", 1)]),
        (
            "AppleWalkingSteadinessEvent",
            [("InitialLow", 1), ("InitialVeryLow", 2), ("RepeatLow", 3), ("RepeatVeryLow", 4)]
        ),
    ]

    static let sharing: [String: [String]] = [
        "Presence": ["MoodChanges", "SleepChanges"],
        "VaginalBleeding": ["BleedingDuringPregnancy", "BleedingAfterPregnancy"],
        "": [
            "MindfulSession", "HighHeartRateEvent", "LowHeartRateEvent", "IrregularHeartRhythmEvent",
            "ToothbrushingEvent",
            "HandwashingEvent", "IntermenstrualBleeding", "SexualActivity", "Lactation", "Pregnancy",
            "PersistentIntermenstrualBleeding", "ProlongedMenstrualPeriods", "IrregularMenstrualCycles",
            "InfrequentMenstrualCycles", "SleepApneaEvent", "HypertensionEvent",
        ],
        "Severity": [
            "AbdominalCramps", "Acne", "BladderIncontinence", "Bloating", "BreastPain", "ChestTightnessOrPain",
            "Chills",
            "Constipation", "Coughing", "Diarrhea", "Dizziness", "DrySkin", "Fainting", "Fatigue", "Fever",
            "GeneralizedBodyAche", "HairLoss", "Headache", "Heartburn", "HotFlashes", "LossOfSmell", "LossOfTaste",
            "LowerBackPain", "MemoryLapse", "Nausea", "NightSweats", "PelvicPain", "RapidPoundingOrFlutteringHeartbeat",
            "RunnyNose", "ShortnessOfBreath", "SinusCongestion", "SkippedHeartbeat", "SoreThroat", "VaginalDryness",
            "Vomiting", "Wheezing",
        ],
    ]
}
