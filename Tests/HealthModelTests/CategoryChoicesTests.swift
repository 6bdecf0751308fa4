import HealthModel
import Testing

/// The names of category values that people enter.
struct CategoryChoicesTests {
    private static let headache = "HKCategoryTypeIdentifierHeadache"

    @Test(
        arguments: [
            ("HKCategoryValueSeverityModerate", 3), ("Moderate", 3), ("moderate", 3), ("not present", 1), ("2", 2),
            ("mod", nil), ("Heavy", nil), ("mild 9", nil), ("", nil),
        ] as [(String, Int?)])
    func aNameIsTakenInFullOrShortAndNotGuessed(_ name: String, _ raw: Int?) {
        #expect(CategoryValue.raw(ofEntered: name, type: Self.headache) == raw)
    }

    @Test func theChoicesAreInOrderWithThePreferredNames() {
        #expect(
            CategoryValue.choices(of: Self.headache) == "0 Unspecified, 1 NotPresent, 2 Mild, 3 Moderate, 4 Severe")
        #expect(
            CategoryValue.choices(of: "HKCategoryTypeIdentifierSleepAnalysis")
                == "0 InBed, 1 AsleepUnspecified, 2 Awake, 3 AsleepCore, 4 AsleepDeep, 5 AsleepREM")
        #expect(CategoryValue.choices(of: "HKQuantityTypeIdentifierStepCount") == nil)
    }

    /// No short name stands for two values of a type.
    @Test func everyChoiceIsTakenForItsNumber() throws {
        for (type, _) in HealthType.allKnown.filter({ $0.value.kind == .category }) {
            for choice in CategoryValue.choices(of: type)?.split(separator: ", ") ?? [] {
                let words = choice.split(separator: " ")
                try #require(words.count == 2)
                #expect(
                    CategoryValue.raw(ofEntered: String(words[1]), type: type) == Int(words[0]), "\(type) \(choice)")
            }
        }
    }
}
