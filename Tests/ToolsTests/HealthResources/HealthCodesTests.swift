import HealthModel
import HealthResources
import Testing

/// The codes in FHIR resources.
@Suite struct HealthCodesTests {
    @Test func thePageListsEachCodeWithItsSource() throws {
        try GeneratedTable(page: "docs/fhir.md", name: "codes").check(against: HealthCodes.documentation)
    }

    @Test func eachIsOfATypeThatExistsAndOfAUnitThatFHIRKnows() {
        #expect(HealthCodes.types.count > 20)
        for (name, coding) in HealthCodes.types {
            // A panel's numbers, and their units, are in its components.
            let isPanel = name == HealthType.bloodPressureIdentifier
            #expect(HealthType.known(name)?.kind == (isPanel ? .correlation : .quantity), "\(name)")
            let code = ResourceUnit(coding, of: HealthType.named(name).unit, isFraction: true).code
            #expect((code == nil) == isPanel, "\(name)")
            #expect(!coding.codes.isEmpty, "\(name)")
        }
    }

    /// LOINC codes end with a Luhn check digit, and SNOMED codes with a Verhoeff check digit, so a mistyped code fails
    /// the check.
    @Test func noneIsMistyped() {
        let all = (Array(HealthCodes.types.values) + Array(HealthCodes.figures.values)).flatMap(\.codes)
        for code in all {
            switch code.system {
            case .loinc: #expect(Self.isLOINC(code.code), "\(code.code)")
            case .snomed: #expect(Self.isSNOMED(code.code), "\(code.code)")
            }
        }
        #expect(!Self.isLOINC("8867-5") && !Self.isSNOMED("364075006") && !Self.isSNOMED("346075005"))
    }

    private static func isLOINC(_ text: String) -> Bool {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let check = Int(parts[1]) else { return false }
        var sum = 0
        for (place, letter) in parts[0].reversed().enumerated() {
            guard let digit = letter.wholeNumberValue else { return false }
            let weighted = place.isMultiple(of: 2) ? digit * 2 : digit
            sum += weighted / 10 + weighted % 10
        }
        return (10 - sum % 10) % 10 == check
    }

    /// The dihedral group of order 10: 0 to 4 turn a pentagon, 5 to 9 turn it over.
    private static func product(_ a: Int, _ b: Int) -> Int {
        switch (a < 5, b < 5) {
        case (true, true): (a + b) % 5
        case (true, false): 5 + (a + b - 5) % 5
        case (false, true): 5 + (a - b) % 5
        case (false, false): (a - b + 5) % 5
        }
    }

    private static func isSNOMED(_ text: String) -> Bool {
        let first = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]
        var check = 0
        for (place, letter) in text.reversed().enumerated() {
            guard var digit = letter.wholeNumberValue else { return false }
            for _ in 0..<place % 8 { digit = first[digit] }
            check = product(check, digit)
        }
        return check == 0
    }
}
