import Logging
import Testing

/// Commands in messages refer to the stack that the command line chose.
@Suite struct AdviceTests {
    private let advice = Advice(state: "/srv/health", configuration: "/etc/hb.json", started: "/etc/hb.json")

    @Test func findsTheCommandsInAText() {
        #expect(
            Advice.commands(in: "look at 'healthbus logs steps', or it's late: 'healthbus up'.") == [
                "healthbus logs steps", "healthbus up",
            ])
        #expect(Advice.commands(in: "'steps' isn't 'healthbus', nor is \"healthbus up\"") == [])
        #expect(Advice.commands(in: "never closed: 'healthbus up") == [])
    }

    @Test func aProgramsWordsSayWhichStackIsMeant() {
        let spaced = ["healthbus-steps", "--state", "/srv/health", "--config", "/etc/hb.json"]
        #expect(Advice(words: spaced) == advice)
        #expect(Advice(words: ["healthbus-steps", "--state=/srv/health", "--config=/etc/hb.json"]) == advice)
        #expect(Advice(words: ["healthbus-steps", "--stat=/a", "--config"]) == Advice())
    }

    @Test func repeatsWhichStackIsMeant() {
        #expect(
            advice.addressed("'steps' hangs: 'healthbus run steps --takeover' ends it")
                == "'steps' hangs: 'healthbus run steps --takeover --state /srv/health --config /etc/hb.json' ends it")
        #expect(Advice().addressed("'healthbus up'") == "'healthbus up'")
        // Commands that already name a stack, or don't concern one, are left unchanged.
        let own = Advice(state: "/srv/health").addressed("'healthbus status --state /other', 'healthbus plugins list'")
        #expect(own == "'healthbus status --state /other', 'healthbus plugins list'")
        #expect(
            Advice(state: "/s").addressed("'healthbus import - < export.zip'")
                == "'healthbus import - --state /s < export.zip'")
    }

    /// The configuration belongs to this command's stack, so commands for other stacks are left unchanged.
    @Test(arguments: ["/other", "/srv/health2", "\"/srv/health 2\""]) func anotherStackKeepsItsConfiguration(
        _ state: String
    ) {
        for text in ["'healthbus stop --state \(state)'", "'healthbus up --state \(state)'"] {
            #expect(advice.addressed(text) == text)
            #expect(Advice(configuration: "/etc/hb.json", started: "/etc/hb.json").addressed(text) == text)
        }
        #expect(
            advice.addressed("'healthbus stop --state /srv/health'")
                == "'healthbus stop --state /srv/health --config /etc/hb.json'")
    }

    @Test func repeatsWhoseEventsAreMeant() {
        let advice = Advice(state: "/s", user: "anna")
        #expect(
            advice.addressed("'healthbus events add coffee 1', 'healthbus types own'")
                == "'healthbus events add coffee 1 --user anna --state /s', 'healthbus types own --user anna --state /s'"
        )
        // These commands concern all users.
        #expect(
            advice.addressed("'healthbus types', 'healthbus status', 'healthbus events list --user bo'")
                == "'healthbus types --state /s', 'healthbus status --state /s', "
                + "'healthbus events list --user bo --state /s'")
    }

    /// A stack isn't started with its last configuration by default, so the command names that configuration.
    @Test func aStartNamesTheConfigurationOfTheLastOne() {
        let advice = Advice(started: "/etc/hb.json")
        #expect(
            advice.addressed("'healthbus up', then 'healthbus status'")
                == "'healthbus up --config /etc/hb.json', then 'healthbus status'")
    }

    @Test func anotherProcessesAdviceBecomesTheHint() {
        #expect(Failure(said: "there is no import 'x'") == Failure("there is no import 'x'"))
        #expect(
            Failure("a; b wasn't imported: ", said: "it is a photo; choose the export", code: .damaged)
                == Failure("a; b wasn't imported: it is a photo", hint: "choose the export", code: .damaged))
    }

    @Test func pathsAreOneWordToAShell() {
        #expect(
            Advice(state: "/my state/$x").addressed("'healthbus up'")
                == "'healthbus up --state \"/my state/\\$x\"'")
        let failure = Advice(state: "/s").addressed(Failure("no", hint: "'healthbus up'", code: .usage))
        #expect(failure == Failure("no", hint: "'healthbus up --state /s'", code: .usage))
    }
}
