import Figures
import Logging
import Testing

/// Which types `healthbus events` takes, and what it says about others.
@Suite struct EnteredTypeTests {
    private func hint(_ text: String) throws -> String {
        let failure = #expect(throws: Failure.self) {
            try EnteredType.identifier(text, own: ["tea"]) { ["HKCorrelationTypeIdentifierFood"] }
        }
        #expect(failure?.code == .usage)
        return failure?.hint ?? ""
    }

    @Test func healthKitsTypesAndAPersonsOwnAreTaken() throws {
        func identifier(_ text: String) throws -> String {
            try EnteredType.identifier(text, own: ["tea"]) { ["theirs"] }
        }
        #expect(try identifier("bodymass") == "HKQuantityTypeIdentifierBodyMass")
        #expect(try identifier("HKCategoryTypeIdentifierHeadache") == "HKCategoryTypeIdentifierHeadache")
        #expect(try identifier("TEA") == "tea")
        // The observer knows where it came from.
        #expect(try identifier("theirs") == "theirs")
    }

    @Test(arguments: [
        ("coffee", "'healthbus types' lists those in the store; 'healthbus types add coffee' makes"),
        ("Headahce", "did you mean Headache? If not, 'healthbus types add Headahce' makes"),
        ("Food", "'healthbus types add my-food' makes"), ("weight", "did you mean BodyMass?"),
        ("steps", "'healthbus types add my-steps' makes"), ("a cup", "'healthbus types add NAME' makes"),
    ])
    func anotherNameIsRefusedWithWhatWorks(_ text: String, _ part: String) throws {
        let hint = try hint(text)
        #expect(hint.contains(part), "\(hint)")
    }

    /// Food is a correlation, which can't be entered.
    @Test func onlyWhatCanBeEnteredIsSuggested() throws {
        #expect(try !hint("foo").contains("Food"))
    }

    @Test func aCategorysValuesAreListed() throws {
        let headache = "HKCategoryTypeIdentifierHeadache"
        for value in ["3", "moderate", "HKCategoryValueSeverityModerate"] {
            try EnteredType.check(value, of: headache)
        }
        for value in ["bad", "2.5", nil] {
            let failure = #expect(throws: Failure.self) { try EnteredType.check(value, of: headache) }
            #expect(failure?.hint?.contains("3 Moderate") == true && failure?.message.contains("bad") == false)
        }
        try EnteredType.check(nil, of: "tea")
        try EnteredType.check("71.4", of: "HKQuantityTypeIdentifierBodyMass")
    }
}
