/// HealthKit's classification (`HKElectrocardiogram.Classification`), limited to those whose printed form is known.
enum ElectrocardiogramRhythm: String, CaseIterable {
    case sinusRhythm, atrialFibrillation, inconclusiveLowHeartRate, inconclusiveHighHeartRate, inconclusivePoorReading
    case inconclusiveOther

    /// Nil for anything unknown, including all languages other than English and German: a wrong verdict is worse than
    /// none.
    init?(printed text: String) {
        let text = text.lowercased()
        if let known = Self.known[text] {
            self = known
        } else if text.hasPrefix("heart rate over") || text.hasPrefix("high heart rate") {
            self = .inconclusiveHighHeartRate
        } else if text.hasPrefix("heart rate under") || text.hasPrefix("low heart rate") {
            self = .inconclusiveLowHeartRate
        } else {
            return nil
        }
    }

    private static let known: [String: ElectrocardiogramRhythm] = [
        "sinus rhythm": .sinusRhythm, "sinusrhythmus": .sinusRhythm,
        "atrial fibrillation": .atrialFibrillation, "vorhofflimmern": .atrialFibrillation,
        "poor recording": .inconclusivePoorReading,
        "inconclusive": .inconclusiveOther, "uneindeutig": .inconclusiveOther,
    ]
}
