/** Names and job titles of people. */

export const FIRST_NAMES: readonly string[] =
  `Anna Ben Clara David Elena Felix Greta Hugo Ines Jonas Katarzyna Lukas Maria Noah Olivia Paul Quentin Rosa Samuel Tara
  Uma Viktor Wei Ximena Yusuf Zoë José Łukasz Søren Åsa François Chloé Jürgen Nadège Şebnem Mehmet Aarav Priya Rohan Ananya
  Kenji Yuki Haruto Min-jun Seo-yeon Liam Emma Mason Ava Ethan Mia James Sofia Diego Camila Mateo Valentina Thiago Beatriz
  Pedro Aisha Omar Fatima Ngozi Kwame Amara Tunde Irina Dmitri Olga Oksana Andrei Ioana Giulia Marco Chiara Luca Björn`.split(
    /\s+/,
  );

export const LAST_NAMES: readonly string[] =
  `Schmidt Müller Weber Fischer Wagner Becker Hoffmann Koch Richter Wolf Dubois Moreau Laurent Lefèvre Girard Bernard Rousseau
  Smith Johnson Brown Taylor Wilson Davies Evans Thomas Roberts Walker Wright Green Hall Clarke O’Connor Murphy Kelly Byrne
  García Martínez López Sánchez Pérez Gómez Ferreira Silva Costa Oliveira Santos Almeida Rossi Bianchi Ferrari Romano Colombo
  Kowalski Nowak Wiśniewski Zieliński Novák Svoboda Dvořák Nielsen Hansen Jensen Larsen Lindqvist Virtanen Korhonen Papadopoulos
  Yılmaz Demir Kaya Cohen Levi Haddad Khan Patel Sharma Iyer Reddy Gupta Singh Tanaka Suzuki Sato Kim Park Lee Choi Wang Chen
  Zhang Liu Nguyen Tran Okafor Mensah Adeyemi Diallo Ivanov Petrov Popescu Horváth van-den-Berg de-Vries Andersson Ångström`
    .split(/\s+/)
    .map((name) => name.replaceAll(/(?<=van|den|de)-/g, ' '));

/** Titles with their weights. */
export const TITLES: readonly (readonly [string, number])[] = [
  ['Data Engineer', 7],
  ['Senior Data Engineer', 4],
  ['Lead Data Engineer', 1],
  ['Data Analyst', 4],
  ['Data Scientist', 4],
  ['Analytics Engineer', 2],
  ['Machine Learning Engineer', 3],
  ['Software Engineer', 8],
  ['Senior Software Engineer', 5],
  ['Staff Software Engineer', 1],
  ['Frontend Developer', 3],
  ['Backend Developer', 3],
  ['DevOps Engineer', 2],
  ['Site Reliability Engineer', 1],
  ['Security Analyst', 1],
  ['Product Manager', 4],
  ['Senior Product Manager', 2],
  ['Product Designer', 2],
  ['UX Researcher', 1],
  ['Engineering Manager', 2],
  ['Chief Technology Officer', 1],
  ['Chief Executive Officer', 1],
  ['Founder', 2],
  ['Account Executive', 4],
  ['Sales Manager', 3],
  ['Marketing Manager', 3],
  ['Content Strategist', 1],
  ['Recruiter', 3],
  ['HR Business Partner', 1],
  ['Financial Analyst', 3],
  ['Accountant', 2],
  ['Management Consultant', 3],
  ['Project Manager', 3],
  ['Supply Chain Planner', 1],
  ['Operations Manager', 2],
  ['Nurse Practitioner', 1],
  ['Research Associate', 2],
  ['Teacher', 1],
  ['Lawyer', 1],
  ['Architect', 1],
];

export const MAJORS: readonly string[] = [
  'Computer Science',
  'Data Science',
  'Mathematics',
  'Statistics',
  'Physics',
  'Electrical Engineering',
  'Mechanical Engineering',
  'Economics',
  'Business Administration',
  'Psychology',
  'Linguistics',
  'Biology',
  'Chemistry',
  'Law',
  'Graphic Design',
  'Political Science',
];

export const DEGREES: readonly string[] = [
  'Bachelor of Science',
  'Bachelor of Arts',
  'Master of Science',
  'Master of Arts',
  'Diplom',
  'Doctor of Philosophy',
];
