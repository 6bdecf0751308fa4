import HealthModel
import HealthResources
import Testing

/// Who somebody is at a server, and how a server finds a resource.
@Suite struct ResourceIdentifierTests {
    @Test func aSearchIsEscapedForFHIRAndForURLs() {
        let day = ResourceIdentifier(system: "urn:x-healthbus:day", value: "me/2025-03-30")
        #expect(day.query == "identifier=urn:x-healthbus:day%7Cme/2025-03-30")
        let odd = ResourceIdentifier(system: "https://h.example/a?b", value: "Jörg, $1|\\ &#")
        #expect(
            odd.query
                == "identifier=https://h.example/a%3Fb%7CJ%C3%B6rg%5C%2C%20%5C%241%5C%7C%5C%5C%20%26%23")
    }

    @Test(arguments: [
        ("me", "urn:x-healthbus:user", "me"), ("anna", "https://clinic.example/mrn", "12|3"),
        ("bo", "urn:x-healthbus:user", "77"), ("cy", "urn:x-healthbus:user", "cy"),
        ("di", "urn:x-healthbus:user", "|9"),
    ])
    func peopleAreWhoTheConfigurationSays(_ user: String, _ system: String, _ value: String) {
        let names = PatientNames(["anna": "https://clinic.example/mrn|12|3", "bo": "77", "cy": "", "di": "|9"])
        #expect(names.identifier(of: user) == ResourceIdentifier(system: system, value: value))
    }

    /// People who share a server share no identifier, though both are called `me` at home.
    @Test func theSameDayOfTwoPeopleIsTwo() {
        let all = ["a|1", "a|2"].map { text in
            Observations(of: PatientNames(["me": .string(text)]).identifier(of: "me")).identifier(.day, "2025-03-30")
        }
        #expect(all.first != all.last)
    }
}
