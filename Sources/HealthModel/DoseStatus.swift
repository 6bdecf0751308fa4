import JSON

/// What a person did about a dose of a medication, as in HealthKit's `HKMedicationDoseEvent.LogStatus`. Only a dose that
/// was taken is one.
package enum DoseStatus: String, Sendable, CaseIterable {
    // In the order of HealthKit's numbers, which begin with 1.
    case notInteracted, notificationNotSent, snoozed, taken, skipped, notLogged

    /// The status in a dose's payload: HealthKit's name or number under `logStatus`, or an app's words for it under
    /// `status` ("Not Interacted"). Nil if there is none that is known, in which case nobody knows whether it was taken.
    package init?(payload: Value) {
        for member in ["logStatus", "status"] {
            let given = payload[member]
            guard let status = given.int.flatMap({ Self(number: $0) }) ?? given.string.flatMap({ Self(text: $0) })
            else {
                continue
            }
            self = status
            return
        }
        return nil
    }

    private init?(number: Int64) {
        guard (1...Int64(Self.allCases.count)).contains(number) else { return nil }
        self = Self.allCases[Int(number) - 1]
    }

    private init?(text: String) {
        if let number = Int64(text) {
            self.init(number: number)
            return
        }
        let word = PayloadWord(text)
        guard let status = Self.allCases.first(where: { word.names($0.rawValue) }) else { return nil }
        self = status
    }
}

/// A word for one of HealthKit's values: exports and apps differ in capitals and spaces, and some write HealthKit's
/// whole name.
package struct PayloadWord: Sendable, Equatable {
    private let letters: String

    package init(_ text: String) { letters = text.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// Whether it is this name, or one that ends with it as HealthKit's do.
    package func names(_ name: String) -> Bool {
        let name = name.lowercased()
        return letters == name || letters.hasPrefix("hk") && letters.hasSuffix(name)
    }
}

extension SamplePage {
    /// A row's payload as JSON; null if there is none or the page has no payloads.
    package func payloadValue(_ row: Int) -> Value {
        guard payload.count == count, !payload.isEmpty(row) else { return .null }
        // A store only keeps JSON.
        return Value(strictJSON: Array(payload.bytes[payload.range(row)])) ?? .null
    }
}
